/* SPDX-License-Identifier: MIT */
#include "view/call_reader.h"

#include "hosted/error_text.h"
#include "trace/open_functions.h"
#include "trace/stream_reader.h"
#include "trace/trace_events.h"

#include <errno.h>
#include <stdlib.h>

struct call_reader {
    const struct view_trace *trace;
    struct trace_events_walk *walk;
    struct call_tracker tracker;
    const struct view_thread *thread;
    bool is_skipping;           /* what comes first was not read, and: */
    struct open_functions open; /* began there */
};

/* They begin as if they had been read. */
static void begin_open(struct call_reader *reader)
{
    const struct trace_span exact = {.is_interpolated = false};

    for (size_t i = 0; i < reader->open.count && reader->tracker.result == 0; i++) {
        const struct open_function *function = &reader->open.functions[i];
        const struct gait_event event = {.kind = GAIT_EVENT_ENTER,
                                         .location = function->location,
                                         .depth = (int32_t)function->depth,
                                         .time = function->time};

        (void)!call_tracker_take(&reader->tracker, &event, 1, &exact);
    }
    reader->is_skipping = false;
}

static int take_events(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    struct call_reader *reader = context;

    if (reader->is_skipping)
        begin_open(reader);
    return call_tracker_take(&reader->tracker, events, count, span);
}

static void lose_events(void *context, uint64_t bytes)
{
    call_tracker_lose(&((struct call_reader *)context)->tracker, bytes);
}

/* What was skipped is known as far as it matters. */
static void skip_events(void *context)
{
    struct call_reader *reader = context;

    if (!reader->is_skipping)
        call_tracker_lose(&reader->tracker, 0);
}

int call_reader_begin(struct call_reader **reader_out, const struct view_trace *trace, size_t thread,
                      const struct call_receiver *receiver)
{
    struct call_reader *reader = calloc(1, sizeof(*reader));
    struct trace_events_receiver events = {take_events, lose_events, skip_events, reader};
    int result;

    if (reader == NULL)
        return -ENOMEM;
    reader->trace = trace;
    reader->thread = &trace->threads[thread];
    call_tracker_init(&reader->tracker, receiver);
    call_tracker_know_goroutines(&reader->tracker, trace->processes[reader->thread->process].goroutines, thread);
    result = trace_events_begin(&reader->walk, trace->files.folder, reader->thread->pieces, reader->thread->piece_count,
                                &trace->processes[reader->thread->process].blocks, &events);
    if (result != 0) {
        free(reader);
        return result;
    }
    *reader_out = reader;
    return 0;
}

void call_reader_skip(struct call_reader *reader, uint64_t before)
{
    const struct view_thread *thread = reader->thread;

    /* Where that cannot be said, all is read. */
    if (before == 0 ||
        open_functions_find(&reader->open, reader->trace->files.folder, thread->pieces, thread->piece_count,
                            &reader->trace->processes[thread->process].blocks, before) != 0)
        return;
    reader->is_skipping = true;
    trace_events_skip(reader->walk, before);
}

bool call_reader_step(struct call_reader *reader)
{
    if (trace_events_step(reader->walk))
        return true;
    call_tracker_finish(&reader->tracker);
    return false;
}

int call_reader_end(struct call_reader *reader, struct gait_error *err)
{
    struct gait_error why = {.code = 0};
    struct trace_events_end end;
    int result = trace_events_end(reader->walk, &end, &why);

    call_tracker_finish(&reader->tracker);
    if (result == 0 && reader->tracker.result == 0 && end.stream.state != STREAM_READING)
        (void)stream_end_check(&end.stream, end.path, &why);
    if (stream_error_outweighs(&why, err))
        *err = why;
    if (reader->tracker.result == -ENOMEM)
        result = error_set(err, ENOMEM, "cannot show the calls of thread %u: there is no memory", reader->thread->tid);
    else if (reader->tracker.result != 0)
        result = reader->tracker.result;
    call_tracker_deinit(&reader->tracker);
    open_functions_deinit(&reader->open);
    free(reader);
    return result;
}

int call_reader_read(const struct view_trace *trace, size_t thread, const struct call_receiver *receiver,
                     struct gait_error *err)
{
    struct call_reader *reader;
    int result = call_reader_begin(&reader, trace, thread, receiver);

    if (result != 0)
        return error_set(err, result, "cannot show the calls of thread %u: there is no memory",
                         trace->threads[thread].tid);
    while (call_reader_step(reader))
        ;
    return call_reader_end(reader, err);
}
