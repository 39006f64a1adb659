/* SPDX-License-Identifier: MIT */
#include "agent/thread_selection.h"

#include "base/glob.h"
#include "protocol/agent_call.h"
#include "ring/ring_region.h"
#include "stalker/exclusion.h"

static struct thread_selection {
    struct ring_region *ring;
    uint32_t count;
    uint32_t numbers[AGENT_PATTERNS_MAX]; /* among all patterns */
    struct agent_pattern patterns[AGENT_PATTERNS_MAX];
} selection;

static bool wants(void *context, int tid, const char *name)
{
    (void)context;
    for (uint32_t i = 0; i < selection.count; i++) {
        const struct agent_pattern *pattern = &selection.patterns[i];

        if ((pattern->number != 0 && pattern->number == (uint32_t)tid) || glob_matches_string(pattern->text, name)) {
            ring_region_note_match(selection.ring, selection.numbers[i]);
            return true;
        }
    }
    return false;
}

const struct thread_chooser *thread_selection_begin(const struct agent_options *options, struct ring_region *ring)
{
    static const struct thread_chooser chooser = {.wants = wants};

    selection.ring = ring;
    selection.count = 0;
    for (uint32_t i = 0; i < options->pattern_count && i < AGENT_PATTERNS_MAX; i++) {
        struct agent_pattern *pattern = &selection.patterns[selection.count];

        if (options->patterns[i].use != AGENT_PATTERN_THREAD)
            continue;
        *pattern = options->patterns[i];
        pattern->text[sizeof(pattern->text) - 1] = '\0';
        selection.numbers[selection.count++] = i;
    }
    return selection.count == 0 ? NULL : &chooser;
}
