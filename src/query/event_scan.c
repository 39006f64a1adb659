/* SPDX-License-Identifier: MIT */
#include "query/event_scan.h"

#include "hosted/error_text.h"
#include "trace/stream_reader.h"

#include <errno.h>

static void note(struct event_scan *scan, int result, const struct gait_error *why)
{
    if (result == 0 || (scan->problem != 0 && !stream_error_outweighs(why, &scan->why)))
        return;
    scan->problem = result;
    scan->why = *why;
}

static void begin_thread(struct event_scan *scan, size_t thread)
{
    const struct view_thread *shown = &scan->trace->threads[thread];
    struct gait_error why;
    int result;

    scan->receiver.context = scan->context;
    scan->thread = thread;
    result = trace_events_begin(&scan->walk, scan->trace->files.folder, shown->pieces, shown->piece_count,
                                &scan->trace->processes[shown->process].blocks, &scan->receiver);
    /* What a goroutine is in follows from all that came before. */
    if (result == 0 && scan->trace->processes[shown->process].goroutines == NULL)
        trace_events_skip(scan->walk, scan->skip_before);
    if (result != 0)
        note(scan, error_set(&why, ENOMEM, "cannot read the events of thread %u: there is no memory", shown->tid),
             &why);
    else if (scan->begin != NULL)
        scan->begin(scan->context, thread);
}

static void end_thread(struct event_scan *scan)
{
    struct trace_events_end end;
    struct gait_error why;
    int result = trace_events_end(scan->walk, &end, &why);

    scan->walk = NULL;
    /* Who had enough left it in the middle. */
    if (result == 0 && end.path != NULL && end.stream.state != STREAM_READING)
        result = stream_end_check(&end.stream, end.path, &why);
    note(scan, result, &why);
    if (scan->end != NULL)
        scan->end(scan->context, scan->thread);
}

bool event_scan_step(struct event_scan *scan)
{
    while (scan->walk == NULL) {
        size_t thread = scan->next_thread++;

        if (thread >= scan->trace->thread_count)
            return false;
        if (scan->wants == NULL || scan->wants(scan->context, thread))
            begin_thread(scan, thread);
    }
    if (!trace_events_step(scan->walk))
        end_thread(scan);
    return true;
}

void event_scan_read(struct event_scan *scan, size_t thread)
{
    begin_thread(scan, thread);
    if (scan->walk == NULL)
        return;
    while (trace_events_step(scan->walk))
        ;
    end_thread(scan);
}

void event_scan_deinit(struct event_scan *scan)
{
    struct trace_events_end end;

    if (scan->walk != NULL)
        (void)trace_events_end(scan->walk, &end, NULL);
    scan->walk = NULL;
}
