/* SPDX-License-Identifier: MIT */
/* Texts come from the file: they are shown through printable(). */
#include "cli/screens/report_sections.h"

#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/figures.h"
#include "view/sched_times.h"

#include <inttypes.h>
#include <stdio.h>

#define NAME_COLUMNS 16

static void put_row(struct screen *screen, const char *tid, const char *name, const struct sched_thread *thread,
                    double tick_ns)
{
    const enum sched_doing columns[] = {SCHED_RUNNING, SCHED_WAITING, SCHED_BLOCKED};
    char clean[64], text[FIGURE_BYTES];
    uint64_t all = 0;

    for (unsigned i = 0; i < 3; i++)
        all += thread->ticks[columns[i]];
    screen_print(screen, "%9s  %-*s", tid, NAME_COLUMNS, printable(clean, sizeof(clean), name));
    for (unsigned i = 0; i < 3; i++)
        screen_print(screen, " %10s", duration_write((double)thread->ticks[columns[i]] * tick_ns, text));
    screen_print(screen, " %8s %9" PRIu64 " %9" PRIu64 "\n",
                 share_write((double)thread->ticks[SCHED_RUNNING], (double)all, text), thread->run_count,
                 thread->pushed_count);
}

static void put_threads(struct screen *screen, const struct sched_times *times, double tick_ns, size_t limit)
{
    struct sched_thread all = {.tid = 0};
    char tid[16];

    for (size_t i = 0; i < times->count; i++) {
        const struct sched_thread *thread = &times->threads[i];

        for (unsigned j = 0; j < SCHED_DOINGS; j++)
            all.ticks[j] += thread->ticks[j];
        all.run_count += thread->run_count;
        all.pushed_count += thread->pushed_count;
        snprintf(tid, sizeof(tid), "%" PRIu32, thread->tid);
        if (i < limit)
            put_row(screen, tid, thread->name, thread, tick_ns);
    }
    if (times->count > limit)
        screen_print(screen, "and %zu more; --limit shows them\n", times->count - limit);
    if (times->count > 1)
        put_row(screen, "", "all", &all, tick_ns);
}

void report_sched_show(const struct view_trace *trace, struct screen *screen, size_t limit)
{
    struct sched_times times;
    char text[160];

    if (sched_times_read(&times, trace) != 0)
        return;
    screen_print(screen, "\n");
    snprintf(text, sizeof(text), "%9s  %-*s %10s %10s %10s %8s %9s %9s", "tid", NAME_COLUMNS, "thread", "on CPU",
             "waited", "blocked", "on CPU %", "runs", "pushed");
    screen_put(screen, SCREEN_STRONG, 0, text);
    screen_print(screen, "\n");
    put_threads(screen, &times, view_clock_tick_ns(&trace->clock), limit);
    if (times.lost_count != 0)
        screen_print(screen, "%" PRIu64 " of %" PRIu64 " events of the scheduler were lost: times may be wrong\n",
                     times.lost_count, times.lost_count + times.event_count);
    sched_times_free(&times);
}
