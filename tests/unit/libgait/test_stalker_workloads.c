/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Real libraries compute the same while they are followed, in whichever way. */
#define _GNU_SOURCE
#include "gait/stalker.h"

#include "support/check.h"
#include "support/followed_call.h"
#include "support/workload.h"

/* A way of following, and how much work that is affordable for. */
struct way {
    const char *name;
    struct gait_follow_options options;
    unsigned scale_percent;
    unsigned rounds;
};

static uint64_t events_taken, blocks_counted, callouts;

static int take_events(void *context, const struct gait_event *events, size_t count)
{
    (void)context;
    (void)events;
    events_taken += count;
    return 0;
}

static const struct gait_event_sink sink = {take_events, NULL};

static void count_blocks(void *context, struct gait_iterator *iterator)
{
    uint64_t *counter = gait_iterator_new_counter(iterator);

    (void)context;
    gait_iterator_put_count(iterator, counter != NULL ? counter : &blocks_counted);
    while (gait_iterator_next(iterator, NULL))
        gait_iterator_keep(iterator);
}

static void count_callout(struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    (void)data;
    callouts++;
}

/* At the start of each block. */
static void call_at_blocks(void *context, struct gait_iterator *iterator)
{
    (void)context;
    gait_iterator_put_callout(iterator, count_callout, NULL, GAIT_CALLOUT_ANY);
    while (gait_iterator_next(iterator, NULL))
        gait_iterator_keep(iterator);
}

static const struct gait_transformer counting = {count_blocks, NULL}, calling = {call_at_blocks, NULL};

static uint64_t run_workload(uint64_t run, uint64_t state)
{
    return ((uint64_t(*)(void *))(uintptr_t)run)((void *)(uintptr_t)state);
}

static void check_workload(const struct workload *workload, const struct way *way)
{
    struct gait_stalker *stalker = followed_call_stalker();
    uint64_t native, followed;
    void *state;

    if (workload_prepare(workload, way->scale_percent, &state) != 0) {
        printf("%s could not be prepared\n", workload->name);
        CHECK(false);
        return;
    }
    native = workload->run(state);
    CHECK(native != WORKLOAD_FAILED);
    for (unsigned i = 0; i < way->rounds; i++) {
        followed =
            followed_call(stalker, &way->options, (uintptr_t)run_workload, (uintptr_t)workload->run, (uintptr_t)state);
        if (followed != native)
            printf("%s, followed with %s, is another\n", workload->name, way->name);
        CHECK_EQUAL(followed, native);
    }
    CHECK_EQUAL(workload->run(state), native);
    workload->discard(state);
    gait_stalker_destroy(stalker);
}

static void check_all(const struct way *way)
{
    for (size_t i = 0; i < WORKLOAD_COUNT; i++)
        check_workload(workloads[i], way);
}

static struct way way_of(const char *name, uint32_t events)
{
    struct way way = {.name = name, .options = followed_options(), .scale_percent = 2, .rounds = 2};

    way.options.events = events;
    way.options.sink = &sink;
    return way;
}

static void check_events(uint32_t events, const char *name)
{
    struct way way = way_of(name, events);

    events_taken = 0;
    check_all(&way);
    CHECK(events_taken > 10000);
}

static void libraries_compute_the_same_while_they_are_followed(void)
{
    struct way way = way_of("nothing", 0);

    check_all(&way);
}

static void libraries_compute_the_same_with_calls_and_returns_told(void)
{
    check_events(GAIT_EVENT_CALL | GAIT_EVENT_RET, "calls and returns");
}

static void libraries_compute_the_same_with_blocks_told(void)
{
    check_events(GAIT_EVENT_BLOCK, "blocks");
}

static void libraries_compute_the_same_with_everything_told(void)
{
    check_events(0x1f, "everything");
}

static void libraries_compute_the_same_with_everything_dropped(void)
{
    struct way way = way_of("everything, dropped", 0x1f);

    way.options.sink = NULL;
    way.options.buffer_bytes = 4096;
    check_all(&way);
}

static void libraries_compute_the_same_with_blocks_counted(void)
{
    struct way way = way_of("counters", 0);

    way.options.transformer = &counting;
    check_all(&way);
}

static void libraries_compute_the_same_with_callouts_and_events(void)
{
    struct way way = way_of("callouts and events", GAIT_EVENT_BLOCK | GAIT_EVENT_RET);

    way.options.transformer = &calling;
    way.scale_percent = 1;
    way.rounds = 1;
    callouts = 0;
    check_all(&way);
    CHECK(callouts > 100000);
}

static const struct check_case cases[] = {
    CHECK_CASE(libraries_compute_the_same_while_they_are_followed),
    CHECK_CASE(libraries_compute_the_same_with_calls_and_returns_told),
    CHECK_CASE(libraries_compute_the_same_with_blocks_told),
    CHECK_CASE(libraries_compute_the_same_with_everything_told),
    CHECK_CASE(libraries_compute_the_same_with_everything_dropped),
    CHECK_CASE(libraries_compute_the_same_with_blocks_counted),
    CHECK_CASE(libraries_compute_the_same_with_callouts_and_events),
};

CHECK_MAIN(cases)
