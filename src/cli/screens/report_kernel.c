/* SPDX-License-Identifier: MIT */
/* Texts come from the file: they are shown through printable(). */
#include "cli/screens/report_sections.h"

#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "report/kernel_totals.h"
#include "view/kernel_sched.h"

#include <errno.h>
#include <inttypes.h>

#define TEXT_BYTES 512

/* Whether there is a source to be shown. */
static bool is_shown(const struct kernel_totals *totals, uint32_t which, bool with_sched)
{
    return with_sched || !kernel_sched_has(&totals->sources, &totals->sources.sources[which]);
}

static uint32_t count_shown(const struct kernel_totals *totals, bool with_sched)
{
    uint32_t count = 0;

    for (uint32_t i = 1; i < totals->sources.source_count; i++)
        count += is_shown(totals, i, with_sched);
    return count;
}

void report_kernel_show(const struct view_trace *trace, struct screen *screen, bool with_sched)
{
    struct kernel_totals totals;
    char clean[TEXT_BYTES];
    double seconds;

    if (!kernel_totals_read(&totals, trace)) {
        if (totals.problem.code != 0 && totals.problem.code != ENOENT)
            screen_print(screen, "\n%s\n", printable(clean, sizeof(clean), totals.problem.text));
        return;
    }
    seconds = kernel_totals_seconds(&totals, trace);
    if (count_shown(&totals, with_sched) != 0 || totals.sources.source_count <= 1) {
        screen_print(screen, "\n");
        screen_put(screen, SCREEN_STRONG, 0, "kernel events    per second        lost  source");
        screen_print(screen, "\n");
    }
    for (uint32_t i = 1; i < totals.sources.source_count; i++) {
        const struct kernel_source *source = &totals.sources.sources[i];

        if (!is_shown(&totals, i, with_sched))
            continue;
        screen_print(screen, "%13" PRIu64 "  %13.1f  %10" PRIu64 "  %s\n", totals.counts[i],
                     seconds > 0 ? (double)totals.counts[i] / seconds : 0.0, source->lost_count,
                     printable(clean, sizeof(clean), source->spec));
    }
    if (totals.is_cut)
        screen_print(screen, "What is known of the kernel's events is cut off or damaged; gait verify shows where.\n");
    if (totals.is_cut && totals.lost_count != 0)
        screen_print(screen, "%" PRIu64 " events were lost; of which source is not known\n", totals.lost_count);
    if (totals.problem.code != 0)
        screen_print(screen, "%s\n", printable(clean, sizeof(clean), totals.problem.text));
    kernel_totals_free(&totals);
}
