/* SPDX-License-Identifier: MIT */
/*
 * Settings by name. A new one is a function that takes the text behind the "=", and a line in the table. Which modes
 * there are is up to tests/programs/MODES alone.
 */
#include "programs/runner/mode.h"

#include "programs/runner/disturbances.h"
#include "programs/runner/failure.h"
#include "programs/runner/transformers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_without_links(struct mode *mode, const char *value)
{
    (void)value;
    mode->stalker.without_links = true;
}

static void set_without_lookup(struct mode *mode, const char *value)
{
    (void)value;
    mode->stalker.without_lookup = true;
}

static void set_without_adjacent(struct mode *mode, const char *value)
{
    (void)value;
    mode->stalker.without_adjacent = true;
}

static void set_slab_bytes(struct mode *mode, const char *value)
{
    mode->stalker.slab_bytes = strtoul(value, NULL, 0);
}

static void set_exclude(struct mode *mode, const char *value)
{
    mode->exclude = strdup(value);
}

static void set_callbacks(struct mode *mode, const char *value)
{
    (void)value;
    mode->stalker.callbacks_followed = true;
}

static void set_code_bytes_max(struct mode *mode, const char *value)
{
    mode->stalker.code_bytes_max = strtoul(value, NULL, 0);
}

static void set_trust(struct mode *mode, const char *value)
{
    mode->stalker.trust = atoi(value);
}

static void set_write_xor_execute(struct mode *mode, const char *value)
{
    (void)value;
    mode->stalker.write_xor_execute = true;
}

static void set_buffer_bytes(struct mode *mode, const char *value)
{
    mode->follow.buffer_bytes = strtoul(value, NULL, 0);
}

static void set_events(struct mode *mode, const char *value)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } kinds[] = {{"call", GAIT_EVENT_CALL},   {"ret", GAIT_EVENT_RET},         {"exec", GAIT_EVENT_EXEC},
                 {"block", GAIT_EVENT_BLOCK}, {"compile", GAIT_EVENT_COMPILE}, {"all", 0x1f}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strstr(value, kinds[i].name) != NULL)
            mode->follow.events |= kinds[i].bits;
    if (mode->follow.events == 0)
        runner_fail("no kind of event is named in", value);
}

static int count_events(void *context, const struct gait_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((uint64_t *)context)[__builtin_ctz(events[i].kind)]++;
    return 0;
}

/* Events go to a function instead of being overwritten by later ones. */
static void set_sink(struct mode *mode, const char *value)
{
    static uint64_t counts[32];
    static const struct gait_event_sink sink = {count_events, counts};

    (void)value;
    mode->follow.sink = &sink;
}

static void set_transformer(struct mode *mode, const char *value)
{
    mode->follow.transformer = transformer_find(value);
    if (mode->follow.transformer == NULL)
        runner_fail("there is no transformer", value);
}

static void set_disturbance(struct mode *mode, const char *value)
{
    mode->disturbance = disturbance_find(value);
    if (mode->disturbance == NULL)
        runner_fail("there is no disturbance", value);
}

static void set_new_threads(struct mode *mode, const char *value)
{
    (void)value;
    mode->follow.new_threads = true;
}

static const struct {
    const char *name;
    void (*set)(struct mode *mode, const char *value);
} settings[] = {
    {"without_links", set_without_links},
    {"without_lookup", set_without_lookup},
    {"without_adjacent", set_without_adjacent},
    {"exclude", set_exclude},
    {"callbacks", set_callbacks},
    {"code_bytes_max", set_code_bytes_max},
    {"trust", set_trust},
    {"write_xor_execute", set_write_xor_execute},
    {"slab_bytes", set_slab_bytes},
    {"buffer_bytes", set_buffer_bytes},
    {"events", set_events},
    {"sink", set_sink},
    {"transformer", set_transformer},
    {"disturbance", set_disturbance},
    {"new_threads", set_new_threads},
};

/* A word of a line: "name" or "name=value". */
static void apply(struct mode *mode, char *word)
{
    char *value = strchr(word, '=');

    if (value != NULL)
        *value++ = 0;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (strcmp(settings[i].name, word) == 0) {
            settings[i].set(mode, value != NULL ? value : "");
            return;
        }
    }
    runner_fail("there is no setting", word);
}

void mode_read(const char *line, struct mode *mode_out)
{
    char text[500], *rest = NULL, *word;

    *mode_out =
        (struct mode){.stalker.size_bytes = sizeof(mode_out->stalker), .follow.size_bytes = sizeof(mode_out->follow)};
    if (snprintf(text, sizeof(text), "%s", line) >= (int)sizeof(text))
        runner_fail("too long for a mode:", line);
    strtok_r(text, " ", &rest);
    while ((word = strtok_r(NULL, " ", &rest)) != NULL)
        apply(mode_out, word);
}
