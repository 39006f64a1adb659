/* SPDX-License-Identifier: MIT */
/*
 * Open calls are on a stack of our own, the outermost first. Those that began before the range wait on it, untold,
 * until something happens in the range while they are open; so what is told is always a number of the outermost ones.
 * A call that begins within the range waits for what comes next, too: that may be that nothing but its entry is known.
 */
#include "export/export_calls.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "view/call_reader.h"

#include <errno.h>
#include <stdlib.h>

/* The end of the range was reached. Results of receivers are theirs: this one says no more than that there is one. */
#define STOP 1

struct telling {
    const struct export_job *job;
    const struct export_receiver *receiver;
    size_t thread;
    struct export_call *open;
    size_t open_count;
    size_t open_capacity;
    size_t told_count;
    int result;            /* not 0: the receiver's, or -ENOMEM */
    bool has_begun_inside; /* the call that began last, within the range */
    bool is_over;
};

static int tell_begins(struct telling *telling)
{
    while (telling->result == 0 && telling->told_count < telling->open_count) {
        const struct export_call *call = &telling->open[telling->told_count++];

        if (telling->receiver->begin != NULL)
            telling->result = telling->receiver->begin(telling->receiver->context, call);
    }
    return telling->result;
}

static int tell_end(struct telling *telling, uint64_t time, uint64_t time_ns, uint32_t flags)
{
    struct export_call call = telling->open[--telling->open_count];

    telling->told_count = telling->open_count;
    call.end_ns = time_ns;
    call.ticks = time - call.begin;
    call.flags |= flags;
    if (telling->open_count > 0) {
        telling->open[telling->open_count - 1].inner_ns += call.end_ns - call.begin_ns;
        telling->open[telling->open_count - 1].inner_ticks += call.ticks;
    }
    if (telling->receiver->end != NULL)
        telling->result = telling->receiver->end(telling->receiver->context, &call);
    return telling->result;
}

/* All that is open goes on behind the range. */
static int stop(struct telling *telling)
{
    telling->is_over = true;
    if (tell_begins(telling) != 0)
        return telling->result;
    while (telling->open_count > 0)
        if (tell_end(telling, view_clock_counter(&telling->job->trace->clock, telling->job->to_ns), telling->job->to_ns,
                     CALL_CUT) != 0)
            return telling->result;
    return STOP;
}

static int begin(void *context, const struct view_call *call)
{
    struct telling *telling = context;
    const struct export_job *job = telling->job;
    uint64_t time_ns = view_trace_ns(job->trace, call->begin);
    uint32_t function;

    if (time_ns >= job->to_ns)
        return stop(telling);
    if (telling->has_begun_inside && tell_begins(telling) != 0)
        return telling->result;
    telling->has_begun_inside = time_ns >= job->from_ns;
    function = view_functions_number(job->functions, job->trace->threads[telling->thread].process, call->function,
                                     call->begin);
    if (function == VIEW_NO_FUNCTION ||
        ARRAY_RESERVE(telling->open, telling->open_capacity, telling->open_count + 1) != 0)
        return telling->result = -ENOMEM;
    telling->open[telling->open_count] = (struct export_call){
        .thread = telling->thread,
        .function = function,
        .depth = (uint32_t)telling->open_count,
        .flags = call->flags,
        .site = call->site,
        .earlier_ticks = call->earlier,
        .begin_ns = time_ns < job->from_ns ? job->from_ns : time_ns,
        .begin = time_ns < job->from_ns ? view_clock_counter(&job->trace->clock, job->from_ns) : call->begin};
    telling->open_count++;
    return 0;
}

static int end(void *context, const struct view_call *call)
{
    struct telling *telling = context;
    uint64_t time_ns = view_trace_ns(telling->job->trace, call->end);

    if (time_ns > telling->job->to_ns)
        return stop(telling);
    if (telling->told_count < telling->open_count && time_ns <= telling->job->from_ns &&
        view_trace_ns(telling->job->trace, call->begin) < telling->job->from_ns) {
        telling->open_count--;
        return 0;
    }
    if (call->flags & CALL_ENTRY_ONLY)
        telling->open[telling->open_count - 1].flags |= CALL_ENTRY_ONLY;
    return tell_begins(telling) != 0 ? telling->result : tell_end(telling, call->end, time_ns, call->flags);
}

static int gap(void *context, uint64_t time, uint64_t lost_bytes)
{
    struct telling *telling = context;
    uint64_t time_ns = view_trace_ns(telling->job->trace, time);

    if (time_ns >= telling->job->to_ns)
        return stop(telling);
    if (time_ns < telling->job->from_ns || telling->receiver->gap == NULL)
        return 0;
    return telling->result = telling->receiver->gap(telling->receiver->context, telling->thread, time_ns, lost_bytes);
}

int export_calls_read(const struct export_job *job, size_t thread, const struct export_receiver *receiver,
                      struct gait_error *err)
{
    struct telling telling = {.job = job, .receiver = receiver, .thread = thread};
    const struct call_receiver calls = {begin, end, gap, &telling, NULL};
    int result = call_reader_read(job->trace, thread, &calls, err);

    free(telling.open);
    if (telling.result == -ENOMEM)
        return error_set(err, ENOMEM, "cannot export the calls of thread %u: there is no memory",
                         job->trace->threads[thread].tid);
    if (telling.result != 0)
        return telling.result;
    return telling.is_over ? 0 : result;
}

int export_calls_read_all(const struct export_job *job, const struct export_receiver *receiver, struct gait_error *err)
{
    int first = 0;

    for (size_t i = 0; i < job->thread_count; i++) {
        int result = export_calls_read(job, job->threads[i], receiver, first == 0 ? err : NULL);

        /* Who has enough wants nothing of the others, either. */
        if (result > 0)
            return result;
        first = first == 0 ? result : first;
    }
    return first;
}
