/* SPDX-License-Identifier: MIT */
/* The last calls are picked from the end of each batch, so that most events are only counted. */
#include "view/thread_tally.h"

#include "hosted/error_text.h"
#include "trace/trace_events.h"

#include <errno.h>
#include <inttypes.h>

#define CALL_KINDS (GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE)

static void keep_last(struct thread_tally *tally, const struct gait_event *events, size_t count,
                      const struct trace_span *span)
{
    size_t first = count;

    for (size_t found = 0; first > 0 && found < LAST_CALLS_MAX; first--)
        found += (events[first - 1].kind & CALL_KINDS) != 0;
    for (size_t i = first; i < count; i++) {
        uint64_t time = events[i].time;

        if (events[i].kind & CALL_KINDS)
            tally->last_calls[tally->last_count++ % LAST_CALLS_MAX] =
                (struct last_call){events[i], time != 0 ? time : span->first_time, time != 0 ? time : span->last_time};
    }
}

void thread_tally_take(struct thread_tally *tally, const struct gait_event *events, size_t count,
                       const struct trace_span *span)
{
    for (size_t i = 0; i < count; i++)
        tally->counts[__builtin_ctz(events[i].kind)]++;
    keep_last(tally, events, count, span);
}

void thread_tally_lose(struct thread_tally *tally, uint64_t bytes)
{
    tally->lost_bytes += bytes;
    tally->loss_count++;
}

void thread_tally_finish(struct thread_tally *tally, const struct trace_events_end *end)
{
    tally->gap_count = end->gap_count;
    if (end->stream.state != STREAM_COMPLETE)
        stream_end_explain(&end->stream, end->path, &tally->err);
    else if (end->bad_bytes != 0)
        error_set(&tally->err, EPROTO,
                  "cannot read all of '%s': %" PRIu64 " bytes are no records of known blocks, and count as lost; try "
                  "'gait verify'",
                  end->path, end->bad_bytes);
    if (end->stream.state == STREAM_COMPLETE)
        tally->ended_ns = end->stream.footer.ended.monotonic_ns;
}
