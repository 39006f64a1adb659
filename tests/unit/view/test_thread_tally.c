/* SPDX-License-Identifier: MIT */
#include "view/thread_tally.h"

#include "support/check.h"
#include "trace/trace_events.h"

#include <string.h>

static const struct trace_span span = {.first_time = 100, .last_time = 200};

static void take(struct thread_tally *tally, uint32_t kind, uint64_t first, size_t count)
{
    struct gait_event events[64];

    for (size_t i = 0; i < count; i++)
        events[i] = (struct gait_event){.kind = kind, .target = first + i};
    thread_tally_take(tally, events, count, &span);
}

static void events_are_counted_by_kind(void)
{
    struct thread_tally tally = {.lost_bytes = 0};

    take(&tally, GAIT_EVENT_CALL, 0, 3);
    take(&tally, GAIT_EVENT_BLOCK, 0, 5);
    take(&tally, GAIT_EVENT_CALL, 0, 1);
    thread_tally_lose(&tally, 72);
    thread_tally_lose(&tally, 8);
    CHECK_EQUAL(tally.counts[0], 4);
    CHECK_EQUAL(tally.counts[3], 5);
    CHECK_EQUAL(tally.lost_bytes, 80);
    CHECK_EQUAL(tally.loss_count, 2);
}

/* Whatever batches they came in, and whatever came between. */
static void the_last_calls_are_kept_in_order(void)
{
    struct thread_tally tally = {.lost_bytes = 0};

    for (uint64_t i = 0; i < 7; i++) {
        take(&tally, GAIT_EVENT_CALL, 100 * i, i == 5 ? 64 : 3);
        take(&tally, GAIT_EVENT_BLOCK, 9999, 20);
    }
    CHECK(tally.last_count >= LAST_CALLS_MAX);
    for (uint64_t i = 0; i < LAST_CALLS_MAX; i++) {
        const struct last_call *call = &tally.last_calls[(tally.last_count - LAST_CALLS_MAX + i) % LAST_CALLS_MAX];

        CHECK_EQUAL(call->event.target, i < 7 ? 500 + 57 + i : 600 + i - 7);
        CHECK_EQUAL(call->first_time, 100);
        CHECK_EQUAL(call->last_time, 200);
    }
}

static void an_end_that_is_not_one_is_told(void)
{
    struct thread_tally tally = {.lost_bytes = 0};
    struct trace_events_end end = {.path = "100/1.index.gait", .gap_count = 2};

    end.stream = (struct stream_end){.state = STREAM_COMPLETE, .footer = {.ended = {.monotonic_ns = 77}}};
    thread_tally_finish(&tally, &end);
    CHECK_TEXT(tally.err.text, "");
    CHECK_EQUAL(tally.ended_ns, 77);
    CHECK_EQUAL(tally.gap_count, 2);
    end.bad_bytes = 12;
    thread_tally_finish(&tally, &end);
    CHECK(strstr(tally.err.text, "12 bytes are no records") != NULL);
    end.stream = (struct stream_end){.state = STREAM_CUT_OFF, .reason = "it is short"};
    thread_tally_finish(&tally, &end);
    CHECK(strstr(tally.err.text, "it is cut off") != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(events_are_counted_by_kind),
    CHECK_CASE(the_last_calls_are_kept_in_order),
    CHECK_CASE(an_end_that_is_not_one_is_told),
};

CHECK_MAIN(cases)
