/* SPDX-License-Identifier: MIT */
/* A ring of this process, into which threads write the system calls that they would have made. */
#include "record/live_calls.h"

#include "base/time_counter.h"
#include "ring/detail_record.h"
#include "ring/ring_writer.h"
#include "support/check.h"
#include "syscalls/system_call_source.h"

#include <string.h>

#define PID    77
#define EXECVE 59
#define BRK    12

static struct gait_error err;
static struct ring_region *ring;
static struct ring_drain drain;
static struct live_calls *calls;
static struct system_call_request request;
static uint64_t began;

/* What was reported: thread and number of each. */
static char reported[256];
static struct system_call_event last;

static void hear(void *context, const struct system_call_event *event)
{
    size_t length = strlen(reported);

    CHECK(context == &request);
    CHECK_EQUAL(event->kind, SYSTEM_CALL_LEFT);
    CHECK_EQUAL(event->pid, PID);
    snprintf(reported + length, sizeof(reported) - length, "%d:%lu ", event->tid, (unsigned long)event->number);
    last = *event;
}

static void begin(void)
{
    static const struct ring_options options;

    reported[0] = '\0';
    request.hear = hear;
    request.context = &request;
    CHECK_EQUAL(ring_region_create(&options, &ring), 0);
    CHECK_EQUAL(live_calls_create(&request, &calls), 0);
    began = time_counter();
    ring_drain_init(&drain, &live_calls_receiver, calls);
    CHECK_EQUAL(ring_drain_add(&drain, PID, 0, ring->fd, &err), 0);
    live_calls_set_first(calls, PID);
}

static void end(void)
{
    ring_drain_deinit(&drain);
    live_calls_destroy(calls);
    live_calls_destroy(NULL);
    ring_region_destroy(ring);
    request = (struct system_call_request){.program = NULL};
}

struct lane {
    struct ring_writer *writer;
    uint64_t position;
};

static struct lane open_lane(uint32_t tid)
{
    const struct ring_lane_owner owner = {.tid = tid, .kind = RING_LANE_DETAIL};
    struct lane lane = {.writer = NULL};

    CHECK_EQUAL(ring_writer_open(ring, &owner, &lane.writer), 0);
    lane.position = lane.writer->start;
    return lane;
}

/* Its size is what is stored last. */
static void write_record(struct lane *lane, const void *record, uint32_t size_bytes)
{
    char *place = (char *)(uintptr_t)lane->position;

    memcpy(place + sizeof(size_bytes), (const char *)record + sizeof(size_bytes), size_bytes - sizeof(size_bytes));
    __atomic_store_n((uint32_t *)(void *)place, size_bytes, __ATOMIC_RELEASE);
    lane->position += size_bytes;
}

static void write_call(struct lane *lane, uint64_t number, uint64_t entered_time, uint64_t time)
{
    const struct detail_system_call call = {
        .record = {.kind = DETAIL_SYSTEM_CALL, .function = number, .time = time},
        .entered_time = entered_time,
        .result = 5,
    };

    write_record(lane, &call, sizeof(call));
}

static void write_begun(struct lane *lane, uint64_t number, uint64_t time)
{
    const struct detail_system_call_enter enter = {
        .record = {.kind = DETAIL_SYSTEM_CALL_ENTER, .function = number, .time = time}};

    write_record(lane, &enter, sizeof(enter));
}

static void take(void)
{
    CHECK_EQUAL(ring_drain_take(&drain, &err), 0);
}

static void calls_of_all_threads_come_in_the_order_of_time(void)
{
    struct lane first, second;

    request.follows = true;
    begin();
    first = open_lane(PID);
    second = open_lane(78);
    write_call(&first, 1, began + 1, began + 10);
    write_call(&first, 3, began + 11, began + 30);
    write_call(&second, 2, began + 2, began + 20);
    take();
    CHECK_TEXT(reported, "77:1 78:2 77:3 ");
    CHECK_EQUAL(last.result, 5);
    CHECK(last.entered_ns >= live_calls_began_ns(calls) && last.entered_ns <= last.time_ns);
    CHECK(last.time_ns <= live_calls_now_ns(calls));
    end();
}

/* Of what was written behind the beginning of a look, other threads may have more to say. */
static void what_is_later_than_the_look_waits(void)
{
    struct lane first;

    begin();
    first = open_lane(PID);
    write_call(&first, 1, began, began + 1);
    write_call(&first, 2, began, time_counter() + 1000000000000);
    take();
    CHECK_TEXT(reported, "77:1 ");
    live_calls_finish(calls);
    CHECK_TEXT(reported, "77:1 77:2 ");
    end();
}

static void threads_that_are_not_meant_are_left_out(void)
{
    static const int pids[] = {PID, 79};
    struct lane lanes[3];

    begin();
    for (uint32_t i = 0; i < 3; i++) {
        lanes[i] = open_lane(PID + i);
        write_call(&lanes[i], i, began, began + i);
    }
    take();
    CHECK_TEXT(reported, "77:0 ");
    request.pids = pids;
    request.pid_count = 2;
    for (uint32_t i = 0; i < 3; i++)
        write_call(&lanes[i], i, began, began + 10 + i);
    take();
    CHECK_TEXT(reported, "77:0 77:0 79:2 ");
    end();
}

/* One that came back has failed, and is reported as that; what else the thread does shows that it did not. */
static void a_program_that_is_executed_is_reported_when_something_follows(void)
{
    struct lane first;

    begin();
    first = open_lane(PID);
    write_begun(&first, EXECVE, began + 1);
    take();
    CHECK_TEXT(reported, "");
    write_call(&first, EXECVE, began + 1, began + 2);
    take();
    CHECK_TEXT(reported, "77:59 ");
    CHECK_EQUAL(last.result, 5);
    write_begun(&first, EXECVE, began + 3);
    write_call(&first, BRK, began + 4, began + 5);
    take();
    CHECK_TEXT(reported, "77:59 77:59 77:12 ");
    write_begun(&first, EXECVE, began + 6);
    write_begun(&first, EXECVE, began + 7);
    take();
    CHECK_TEXT(reported, "77:59 77:59 77:12 77:59 ");
    live_calls_finish(calls);
    CHECK_TEXT(reported, "77:59 77:59 77:12 77:59 77:59 ");
    CHECK_EQUAL(last.result, 0);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_of_all_threads_come_in_the_order_of_time),
    CHECK_CASE(what_is_later_than_the_look_waits),
    CHECK_CASE(threads_that_are_not_meant_are_left_out),
    CHECK_CASE(a_program_that_is_executed_is_reported_when_something_follows),
};

CHECK_MAIN(cases)
