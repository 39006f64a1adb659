/* SPDX-License-Identifier: MIT */
#include "cli/report_times.h"

#include "cli/duration.h"
#include "cli/printable.h"
#include "cli/screen.h"
#include "symbolize/function_names.h"
#include "trace/trace_summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_BYTES 512

struct timed_function {
    const struct call_count *count;
    const struct process_summary *process;
};

static int compare(const void *left_function, const void *right_function)
{
    const struct timed_function *left = left_function, *right = right_function;

    if (left->count->total_time != right->count->total_time)
        return left->count->total_time > right->count->total_time ? -1 : 1;
    if (left->count->calls != right->count->calls)
        return left->count->calls > right->count->calls ? -1 : 1;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    return left->count->address < right->count->address ? -1 : left->count->address > right->count->address;
}

/* All functions of all processes whose times are known. To be freed; NULL: there are none, or there is no memory. */
static struct timed_function *rank(const struct trace_summary *summary, size_t *count_out)
{
    struct timed_function *functions;
    size_t count = 0;

    for (size_t i = 0; i < summary->process_count; i++)
        count += summary->processes[i].calls.count;
    functions = count == 0 ? NULL : calloc(count, sizeof(*functions));
    *count_out = 0;
    for (size_t i = 0; i < summary->process_count && functions != NULL; i++)
        for (size_t j = 0; j < summary->processes[i].calls.count; j++)
            if (summary->processes[i].calls.counts[j].ended != 0)
                functions[(*count_out)++] =
                    (struct timed_function){&summary->processes[i].calls.counts[j], &summary->processes[i]};
    if (functions != NULL)
        qsort(functions, *count_out, sizeof(*functions), compare);
    return functions;
}

static void put_function(struct screen *screen, const struct timed_function *function, struct function_names *names,
                         double tick)
{
    const struct call_count *count = function->count;
    const double times[] = {(double)count->total_time, (double)count->self_time,
                            (double)count->self_time / (double)count->ended, (double)count->longest_time};
    char text[TEXT_BYTES], clean[TEXT_BYTES], duration[DURATION_BYTES];

    snprintf(text, sizeof(text), "0x%" PRIx64, count->address);
    if (count->module != NULL)
        (void)function_names_find(names, count->module, count->address, text, sizeof(text));
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        screen_print(screen, "%12s", duration_write(times[i] * tick, duration));
    screen_print(screen, " %12" PRIu64 "  %s", count->calls, printable(clean, sizeof(clean), text));
}

static void put_process(struct screen *screen, const struct process_summary *process)
{
    char name[TRACE_PROCESS_NAME_BYTES];

    trace_process_name(process->pid, process->image, name);
    screen_print(screen, "  (process %s)", name);
}

void report_times(struct screen *screen, const struct trace_summary *summary, struct function_names *names, int limit)
{
    double tick = duration_of_tick(&summary->manifest);
    char heading[TEXT_BYTES];
    size_t count;
    struct timed_function *functions = rank(summary, &count);

    snprintf(heading, sizeof(heading), "%12s%12s%12s%12s %12s  function", "total", "self", "self a call", "longest",
             "calls");
    if (count != 0) {
        screen_print(screen, "\n");
        screen_put(screen, SCREEN_STRONG, 0, heading);
        screen_print(screen, "\n");
    }
    for (size_t i = 0; i < count && i < (size_t)limit; i++) {
        put_function(screen, &functions[i], names, tick);
        if (summary->process_count > 1)
            put_process(screen, functions[i].process);
        screen_print(screen, "\n");
    }
    if (count > (size_t)limit)
        screen_print(screen, "and %zu more; --limit shows them\n", count - (size_t)limit);
    free(functions);
}
