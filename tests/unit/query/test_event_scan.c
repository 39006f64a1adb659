/* SPDX-License-Identifier: MIT */
#include "query/event_scan.h"

#include "support/check.h"
#include "support/query_lab.h"

static struct query_lab lab;

struct seen {
    size_t begun;
    size_t ended;
    size_t events;
    size_t only; /* this thread, and 1; 0: all */
    bool has_enough;
};

static int take(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    struct seen *seen = context;

    (void)events;
    (void)span;
    seen->events += count;
    return seen->has_enough;
}

static bool wants(void *context, size_t thread)
{
    const struct seen *seen = context;

    return seen->only == 0 || seen->only == thread + 1;
}

static void begin_thread(void *context, size_t thread)
{
    (void)thread;
    ((struct seen *)context)->begun++;
}

static void end_thread(void *context, size_t thread)
{
    (void)thread;
    ((struct seen *)context)->ended++;
}

static struct event_scan scan_for(struct seen *seen)
{
    return (struct event_scan){.trace = &lab.trace,
                               .receiver = {take, NULL, NULL, NULL},
                               .wants = wants,
                               .begin = begin_thread,
                               .end = end_thread,
                               .context = seen};
}

static void threads_are_read_one_after_the_other(void)
{
    struct seen seen = {.begun = 0};
    struct event_scan scan;

    query_lab_init(&lab);
    scan = scan_for(&seen);
    while (event_scan_step(&scan))
        CHECK(seen.begun - seen.ended <= 1);
    CHECK_EQUAL(seen.begun, 2);
    CHECK_EQUAL(seen.ended, 2);
    CHECK_EQUAL(seen.events, 10);
    CHECK_EQUAL(scan.problem, 0);
    event_scan_deinit(&scan);
    query_lab_deinit(&lab);
}

static void threads_can_be_left_out_and_left_early(void)
{
    struct seen seen = {.only = 2};
    struct event_scan scan;

    query_lab_init(&lab);
    scan = scan_for(&seen);
    while (event_scan_step(&scan))
        ;
    CHECK_EQUAL(seen.events, 4);
    seen = (struct seen){.has_enough = true};
    scan = scan_for(&seen);
    event_scan_read(&scan, 0);
    CHECK_EQUAL(seen.ended, 1);
    CHECK_EQUAL(scan.problem, 0);
    scan = scan_for(&seen);
    CHECK(event_scan_step(&scan));
    event_scan_deinit(&scan);
    query_lab_deinit(&lab);
}

static void what_cannot_be_read_is_noted(void)
{
    struct seen seen = {.begun = 0};
    struct event_scan scan;

    query_lab_init(&lab);
    trace_folder_write(&lab.folder, "200/200.1.index.gait", "?", 1);
    scan = scan_for(&seen);
    while (event_scan_step(&scan))
        ;
    CHECK_EQUAL(seen.events, 4);
    CHECK(scan.problem < 0 && strstr(scan.why.text, "200.1.index.gait") != NULL);
    event_scan_deinit(&scan);
    query_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(threads_are_read_one_after_the_other),
    CHECK_CASE(threads_can_be_left_out_and_left_early),
    CHECK_CASE(what_cannot_be_read_is_noted),
};

CHECK_MAIN(cases)
