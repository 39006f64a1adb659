/* SPDX-License-Identifier: MIT */
#include "gait/event_sinks.h"

#include "support/check.h"

#include <pthread.h>

#define THREADS 4
#define ROUNDS  500

struct seen {
    unsigned functions;
    uint64_t calls;
    uint64_t of_first;
};

static void visit(void *context, uint64_t target, uint64_t count)
{
    struct seen *seen = context;

    seen->functions++;
    seen->calls += count;
    if (target == 0x1000)
        seen->of_first = count;
}

/* Calls of 0x1000 and of three others, and events that are no calls. */
static void give_batch(const struct gait_event_sink *sink)
{
    struct gait_event events[8];

    for (unsigned i = 0; i < 8; i++)
        events[i] = (struct gait_event){.kind = GAIT_EVENT_CALL, .target = 0x1000 + 0x100 * (i % 4)};
    events[6].kind = GAIT_EVENT_RET;
    events[7].kind = GAIT_EVENT_BLOCK;
    CHECK_EQUAL(sink->process(sink->context, events, 8), 0);
}

static void *give_batches(void *sink)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        give_batch(sink);
    return NULL;
}

static void calls_are_counted_by_target_and_nothing_else_is(void)
{
    struct gait_call_summary *summary;
    struct seen seen = {0};

    CHECK_EQUAL(gait_call_summary_create(&summary, NULL), 0);
    gait_call_summary_read(summary, visit, &seen);
    CHECK_EQUAL(seen.functions, 0);
    give_batch(gait_call_summary_sink(summary));
    gait_call_summary_read(summary, visit, &seen);
    CHECK_EQUAL(seen.functions, 4);
    CHECK_EQUAL(seen.calls, 6);
    CHECK_EQUAL(seen.of_first, 2);
    gait_call_summary_destroy(summary);
    gait_call_summary_destroy(NULL);
}

static void threads_add_up(void)
{
    struct gait_call_summary *summary;
    struct seen seen = {0};
    pthread_t threads[THREADS];

    CHECK_EQUAL(gait_call_summary_create(&summary, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, give_batches, (void *)gait_call_summary_sink(summary)), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    gait_call_summary_read(summary, visit, &seen);
    CHECK_EQUAL(seen.functions, 4);
    CHECK_EQUAL(seen.calls, 6 * THREADS * ROUNDS);
    gait_call_summary_destroy(summary);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_are_counted_by_target_and_nothing_else_is),
    CHECK_CASE(threads_add_up),
};

CHECK_MAIN(cases)
