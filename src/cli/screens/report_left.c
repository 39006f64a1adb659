/* SPDX-License-Identifier: MIT */
#include "cli/screens/report_sections.h"

#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "report/report_words.h"
#include "ring/left_log.h"
#include "view/trace_report.h"

#include <inttypes.h>
#include <stdio.h>

#define TEXT_BYTES 512

static void put_left(struct screen *screen, const struct report_place *place, const struct manifest_left *left)
{
    char name[TEXT_BYTES], clean[TEXT_BYTES];

    report_place_write(place, left->pc, left->time, left->time, name, sizeof(name));
    screen_print(screen, "thread %" PRIu32 " at %s: %s", left->tid, printable(clean, sizeof(clean), name),
                 report_left_explain(left->reason));
    for (uint32_t i = 0; i < left->code_bytes && left->reason == RING_LEFT_INSTRUCTION; i++)
        screen_print(screen, "%s%02x", i == 0 ? ": " : " ", left->code[i]);
    screen_print(screen, "\n");
}

static void put_process(struct screen *screen, const struct report_place *place, const struct manifest_process *listed)
{
    char heading[96];

    snprintf(heading, sizeof(heading), "process %" PRIu32 " was not followed any further %" PRIu64 " %s", listed->pid,
             listed->left_count, listed->left_count == 1 ? "time" : "times");
    screen_print(screen, "\n");
    screen_put(screen, SCREEN_STRONG, 0, heading);
    screen_print(screen, "\n");
    for (size_t i = 0; i < listed->left_listed; i++)
        put_left(screen, place, &listed->left[i]);
    if (listed->left_count > listed->left_listed)
        screen_print(screen, "%" PRIu64 " more\n", listed->left_count - listed->left_listed);
}

void report_left(struct screen *screen, const struct trace_report *report, struct function_names *names)
{
    const struct view_trace *trace = report->trace;

    for (size_t i = 0; i < trace->process_count; i++) {
        const struct manifest_process *listed = report_listed_process(trace, &trace->processes[i]);
        const struct report_place place = {report, i, names};

        if (listed != NULL && listed->left_count != 0)
            put_process(screen, &place, listed);
    }
}
