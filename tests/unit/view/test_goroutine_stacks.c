/* SPDX-License-Identifier: MIT */
#include "view/goroutine_stacks.h"

#include "ring/event_record.h"
#include "support/call_log.h"
#include "support/check.h"
#include "support/trace_folder.h"
#include "view/call_reader.h"
#include "view/view_trace.h"

#include <stdio.h>

/* Blocks of the example: 0 is at 401000, 1 at 401100, 2 at 401200. */
#define A 0
#define B 1
#define C 2

static struct trace_folder folder;
static struct view_trace trace;
static struct trace_bytes bytes;

static void put(uint32_t number, enum event_record record, uint32_t depth, uint64_t time)
{
    uint32_t header = event_header(number, record);

    trace_bytes_put(&bytes, &header, sizeof(header));
    trace_bytes_put(&bytes, &depth, sizeof(depth));
    trace_bytes_put_long(&bytes, time);
}

static void runs(uint32_t goroutine, uint64_t time)
{
    put(0, EVENT_RECORD_GOROUTINE, goroutine, time);
}

static void enters(uint32_t function, uint32_t height, uint64_t time)
{
    put(function, EVENT_RECORD_ENTER, EVENT_HEIGHT | height, time);
}

static void leaves(uint32_t function, uint32_t height, uint64_t time)
{
    put(function, EVENT_RECORD_LEAVE, EVENT_HEIGHT | height, time);
}

/* What was put is what a thread has told. */
static void put_thread(uint32_t tid)
{
    char name[64];

    snprintf(name, sizeof(name), "100/%u.1.index.gait", tid);
    trace_folder_put_stream(&folder,
                            &(struct trace_stream_plan){.name = name,
                                                        .header = {.kind = TRACE_STREAM_INDEX,
                                                                   .pid = 100,
                                                                   .tid = tid,
                                                                   .generation = 1,
                                                                   .space = 1,
                                                                   .events = EVENTS_HOOKED | GAIT_EVENT_GOROUTINE,
                                                                   .with_times = 1},
                                                        .bytes = &bytes});
    bytes.size_bytes = 0;
}

static void begin(void)
{
    bytes.size_bytes = 0;
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
}

static void end(void)
{
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void tells(size_t thread, const char *expected)
{
    struct call_log call_log;
    struct call_receiver receiver = call_log_receiver(&call_log);

    CHECK_EQUAL(call_reader_read(&trace, thread, &receiver, NULL), 0);
    CHECK_TEXT(call_log.text, expected);
}

/* A calls B, and another thread goes on with it. */
static void calls_go_on_on_another_thread(void)
{
    begin();
    runs(7, 5000);
    enters(A, 100, 5000);
    enters(B, 200, 5010);
    put_thread(201);
    runs(7, 5100);
    leaves(B, 250, 5110);
    leaves(A, 150, 5120);
    put_thread(202);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    tells(2, "<401000@5000 <401100@5010 401100@5010/0 suspended> 401000@5010/0 suspended> ");
    tells(3, "<401000@5100 resumed <401100@5100 resumed 401100@5110/0+90/0> 401000@5120/100+100/0> ");
    end();
}

/* What B did meanwhile on the other thread is over when the first one has the goroutine again. */
static void what_ended_elsewhere_is_over(void)
{
    begin();
    runs(7, 5000);
    enters(A, 100, 5000);
    enters(B, 200, 5010);
    runs(8, 5020);
    runs(7, 5300);
    leaves(A, 150, 5310);
    put_thread(201);
    runs(7, 5100);
    leaves(B, 250, 5110);
    enters(C, 200, 5120);
    leaves(C, 220, 5130);
    put_thread(202);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    tells(2, "<401000@5000 <401100@5010 401100@5010/0 suspended> 401000@5010/0 suspended> "
             "<401000@5300 resumed 401000@5310/0+300/0> ");
    end();
}

/* A thread that had it before, and no other one meanwhile, tells it again. */
static void it_comes_back_to_a_thread_that_had_no_other(void)
{
    begin();
    runs(7, 5000);
    enters(A, 100, 5000);
    enters(B, 200, 5010);
    runs(7, 5050); /* a new buffer */
    runs(7, 5300);
    leaves(C, 220, 5310);
    enters(C, 200, 5320);
    leaves(C, 220, 5330);
    leaves(A, 150, 5340);
    put_thread(201);
    runs(7, 5100);
    leaves(B, 250, 5110);
    enters(C, 200, 5120);
    put_thread(202);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    tells(2, "<401000@5000 <401100@5010 401100@5050/0 suspended> 401000@5050/40 suspended> "
             "<401000@5300 resumed <401200@5300 resumed 401200@5310/0+180/0> <401200@5320 401200@5330/0> "
             "401000@5340/200+300/0> ");
    end();
}

static void calls_that_a_panic_left_do_not_come_back(void)
{
    begin();
    runs(7, 5000);
    enters(A, 100, 5000);
    enters(B, 200, 5010);
    enters(C, 300, 5015);
    put_thread(201);
    runs(7, 5100);
    leaves(A, 150, 5110);
    enters(B, 90, 5120);
    put_thread(202);
    runs(7, 5200);
    leaves(B, 95, 5210);
    put_thread(203);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    tells(3, "<401000@5100 resumed <401100@5100 resumed <401200@5100 resumed 401200@5110/0+85/0 unwound> "
             "401100@5110/95+90/0 unwound> 401000@5110/95+100/0> <401100@5120 401100@5120/0 suspended> ");
    tells(4, "<401100@5200 resumed 401100@5210/0+80/0> ");
    end();
}

static void a_goroutine_that_nobody_goes_on_with_is_suspended_for_good(void)
{
    begin();
    runs(7, 5000);
    enters(A, 100, 5000);
    runs(8, 5010);
    enters(B, 100, 5020);
    leaves(B, 110, 5030);
    put_thread(201);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    tells(2, "<401000@5000 401000@5000/0 suspended> <401100@5020 401100@5030/0> 401000 never resumed ");
    end();
}

static void processes_without_goroutines_have_none(void)
{
    struct goroutine_stacks *stacks = (struct goroutine_stacks *)(uintptr_t)1;
    struct goroutine_arrival arrival;

    begin();
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(goroutine_stacks_read(&stacks, &trace, 0), 0);
    CHECK(stacks == NULL);
    CHECK(!goroutine_stacks_arrive(NULL, 0, 0, &arrival));
    CHECK(goroutine_stacks_ends_in(NULL, 7, 0));
    goroutine_stacks_destroy(NULL);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_go_on_on_another_thread),
    CHECK_CASE(what_ended_elsewhere_is_over),
    CHECK_CASE(it_comes_back_to_a_thread_that_had_no_other),
    CHECK_CASE(calls_that_a_panic_left_do_not_come_back),
    CHECK_CASE(a_goroutine_that_nobody_goes_on_with_is_suspended_for_good),
    CHECK_CASE(processes_without_goroutines_have_none),
};

CHECK_MAIN(cases)
