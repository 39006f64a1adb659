/* SPDX-License-Identifier: MIT */
#include "export/export_records.h"

#include "hosted/error_text.h"
#include "trace/stream_reader.h"
#include "view/thread_pattern.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SECOND_NS 1000000000ull

static bool is_wanted(const struct export_job *job, const struct export_kernel_event *told)
{
    if (told->source == NULL || told->time_ns < job->from_ns || told->time_ns >= job->to_ns)
        return false;
    for (size_t i = 0; i < job->wanted_count; i++)
        if (thread_pattern_means(job->wanted[i], told->event->tid, told->thread))
            return true;
    return job->wanted_count == 0;
}

static int emit(const struct export_job *job, const struct kernel_sources *sources, struct kernel_events *events,
                const struct export_kernel_receiver *receiver)
{
    struct kernel_event event;
    int result = 0;

    while (result == 0 && kernel_events_next(events, &event)) {
        const struct export_kernel_event told = {
            .sources = sources,
            .source = kernel_sources_find(sources, event.source),
            .event = &event,
            .thread = kernel_sources_thread(sources, event.tid, event.time),
            .time_ns = view_trace_ns(job->trace, event.time),
        };

        if (is_wanted(job, &told))
            result = receiver->event(receiver->context, &told);
    }
    return result;
}

/* That there are none is no error. */
static int explain(int result, const struct gait_error *why, struct gait_error *err)
{
    if (result == -ENOENT)
        return 0;
    if (result < 0 && err != NULL)
        *err = *why;
    return result;
}

int export_kernel_read(const struct export_job *job, const struct export_kernel_receiver *receiver,
                       struct gait_error *err)
{
    struct kernel_sources sources;
    struct kernel_events events;
    struct gait_error why = {0};
    int result = kernel_events_sources(&job->trace->files, &sources, &why);

    if (result != 0)
        return explain(result, &why, err);
    result = kernel_events_open(&events, &job->trace->files, &why);
    if (result == 0) {
        result = emit(job, &sources, &events, receiver);
        if (result == -ENOMEM)
            (void)error_set(&why, ENOMEM, "cannot export the kernel's events: there is no memory");
        if (result == 0 && stream_error_outweighs(&events.problem, err))
            *err = events.problem;
        kernel_events_close(&events);
    }
    kernel_sources_deinit(&sources);
    return explain(result, &why, err);
}

int export_kernel_behind(const struct export_job *job, int result, const struct export_kernel_receiver *receiver,
                         struct gait_error *err)
{
    int other;

    if (result > 0)
        return result;
    other = export_kernel_read(job, receiver, result == 0 ? err : NULL);
    return result == 0 || other > 0 ? other : result;
}

uint64_t export_kernel_weight(const struct kernel_source *source)
{
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = {{"s", SECOND_NS}, {"ms", SECOND_NS / 1000}, {"us", SECOND_NS / 1000000}};
    unsigned long long number = 0;
    char unit[4] = "";

    if (sscanf(source->spec, "profile:%3[a-z]:%llu", unit, &number) != 2 || number == 0)
        return 1;
    if (strcmp(unit, "hz") == 0)
        return number > SECOND_NS ? 1 : SECOND_NS / number;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(unit, units[i].unit) == 0)
            return number > UINT32_MAX ? 1 : units[i].ns * number;
    return 1;
}
