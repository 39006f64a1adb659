/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "agent/detail_lane.h"

#include "support/agent_lab.h"
#include "support/check_apart.h"
#include "support/guarded_bytes.h"

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#define BUFFER_BYTES 4096

static struct detail_lane lane;
static const _Atomic uint32_t never;
static const struct detail_values no_values;
static struct detail_owner owner = {.tid = 77, .give_up = &never};

static void begin(enum ring_overflow overflow)
{
    agent_lab_begin(BUFFER_BYTES, overflow);
    CHECK(detail_lane_open(&lane, agent_lab.ring, &owner));
}

static void enter(uint64_t function, uint64_t sp, uint32_t stack_bytes, struct detail_values values)
{
    const struct detail_enter record = {
        .record = {.function = function, .sp = sp, .depth = 3, .time = 1000},
        .caller = 0x401234,
        .arguments = {1, 2, 3, 4, 5, 6},
        .stack_bytes = stack_bytes,
    };

    detail_lane_enter(&lane, &record, values);
}

static void leave(uint64_t function)
{
    const struct detail_leave record = {
        .record = {.kind = DETAIL_LEAVE, .function = function, .time = 2000}, .entered_time = 1000, .value = 42};

    detail_lane_leave(&lane, &record, no_values);
}

static void records_are_read_as_they_were_written(void)
{
    static const uint64_t addresses[] = {0x401111, 0x402222, 0x403333};
    _Alignas(16) static const uint64_t stack[4] = {0x401234, 0xaaaa, 0xbbbb, 0xcccc};
    const struct detail_stack walked = {.record = {.function = 5, .depth = 3}, .frame_count = 3, .flags = 1};
    const struct detail_enter *entered;
    const struct detail_leave *left;
    const struct detail_stack *found;

    begin(RING_DROP);
    enter(5, (uintptr_t)stack, 16, (struct detail_values){(const uint8_t *)"abcde", 5});
    detail_lane_stack(&lane, &walked, addresses);
    leave(5);
    CHECK_EQUAL(agent_lab_take(), 3);
    CHECK_EQUAL(agent_lab.tid, 77);
    entered = agent_lab_record(0, DETAIL_ENTER);
    CHECK_EQUAL(entered->record.function, 5);
    CHECK_EQUAL(entered->record.depth, 3);
    CHECK_EQUAL(entered->caller, 0x401234);
    CHECK_EQUAL(entered->arguments[5], 6);
    CHECK_EQUAL(entered->stack_bytes, 16);
    CHECK(memcmp(entered + 1, stack, 16) == 0);
    CHECK_EQUAL(detail_record_values((const uint8_t *)entered).size_bytes, 5);
    CHECK(memcmp(detail_record_values((const uint8_t *)entered).bytes, "abcde", 5) == 0);
    found = agent_lab_record(1, DETAIL_STACK);
    CHECK_EQUAL(found->frame_count, 3);
    CHECK(memcmp(found + 1, addresses, sizeof(addresses)) == 0);
    left = agent_lab_record(2, DETAIL_LEAVE);
    CHECK_EQUAL(left->value, 42);
    CHECK_EQUAL(left->entered_time, 1000);
    CHECK_EQUAL(agent_lab.bad_bytes, 0);
}

static void values_of_a_result_are_behind_it(void)
{
    const struct detail_leave record = {.record = {.kind = DETAIL_LEFT, .function = 5}};
    struct detail_values values;

    begin(RING_DROP);
    detail_lane_leave(&lane, &record, (struct detail_values){(const uint8_t *)"123456789", 9});
    agent_lab_take();
    values = detail_record_values(agent_lab_record(0, DETAIL_LEFT));
    CHECK_EQUAL(values.size_bytes, 9);
    CHECK(memcmp(values.bytes, "123456789", 9) == 0);
}

static void of_a_stack_as_much_is_taken_as_can_be_read(void)
{
    struct guarded_bytes guarded;
    const struct detail_enter *entered;

    begin(RING_DROP);
    guarded_bytes_init(&guarded);
    enter(1, (uintptr_t)guarded.end - 24, 256, no_values);
    enter(2, (uintptr_t)guarded.end, 256, no_values);
    enter(3, 24, 256, no_values);
    /* One that is not aligned is none. */
    enter(4, (uintptr_t)guarded.end - 20, 16, no_values);
    CHECK_EQUAL(agent_lab_take(), 4);
    entered = agent_lab_record(0, DETAIL_ENTER);
    CHECK_EQUAL(entered->stack_bytes, 24);
    for (unsigned i = 1; i < 4; i++)
        CHECK_EQUAL(((const struct detail_enter *)agent_lab_record(i, DETAIL_ENTER))->stack_bytes, 0);
}

static void values_come_before_the_stack(void)
{
    static const uint8_t values[DETAIL_STACK_BYTES_MAX - 32];
    _Alignas(16) static uint64_t stack[128];
    const struct detail_enter *entered;

    begin(RING_DROP);
    enter(1, (uintptr_t)stack, DETAIL_STACK_BYTES_MAX, (struct detail_values){values, sizeof(values)});
    agent_lab_take();
    entered = agent_lab_record(0, DETAIL_ENTER);
    CHECK_EQUAL(entered->stack_bytes, 32);
    CHECK_EQUAL(entered->values_bytes, sizeof(values));
}

static void a_full_ring_loses_records_and_counts_them(void)
{
    unsigned written = 2000, kept;
    struct ring_losses losses;

    begin(RING_DROP);
    for (unsigned i = 0; i < written; i++)
        leave(i);
    kept = agent_lab_take();
    CHECK(kept != 0 && kept < written);
    /* From then on there is room again, and what is missing is told. */
    for (unsigned i = 0; i < 200; i++)
        leave(written + i);
    agent_lab_take();
    detail_lane_close(&lane);
    agent_lab_take();
    ring_reader_losses(agent_lab.reader, &losses);
    CHECK_EQUAL(losses.late_bytes % sizeof(struct detail_leave), 0);
    CHECK_EQUAL(agent_lab.record_count + losses.late_bytes / sizeof(struct detail_leave), written + 200);
    CHECK_EQUAL(agent_lab.ended_lanes, 1);
    CHECK_EQUAL(agent_lab.bad_bytes, 0);
    for (unsigned i = 1; i < agent_lab.record_count; i++)
        CHECK(agent_lab.records[i]->function > agent_lab.records[i - 1]->function);
}

static void records_go_on_in_the_next_buffer(void)
{
    unsigned per_buffer = BUFFER_BYTES / sizeof(struct detail_leave);

    begin(RING_DROP);
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < per_buffer; i++)
            leave(round * per_buffer + i);
        agent_lab_take();
    }
    CHECK_EQUAL(agent_lab.record_count, 20 * per_buffer);
    for (unsigned i = 0; i < agent_lab.record_count; i++)
        CHECK_EQUAL(agent_lab.records[i]->function, i);
}

/* ---- room that is taken first ------------------------------------------------------------------------------------ */

#define FIXED     ((uint32_t)sizeof(struct detail_probe))
#define VALUES_AT ((uint32_t)offsetof(struct detail_probe, values_bytes))

static void room_that_is_not_needed_is_given_back(void)
{
    struct detail_place place;
    const struct detail_probe *probe;

    begin(RING_DROP);
    place = detail_lane_take(&lane, DETAIL_PROBE, FIXED, VALUES_AT, 1000);
    memcpy(place.bytes + FIXED, "\x0b\0\x02\0hi", 6);
    detail_lane_put(&lane, place, FIXED, VALUES_AT, 6);
    leave(9);
    CHECK_EQUAL(agent_lab_take(), 2);
    probe = agent_lab_record(0, DETAIL_PROBE);
    CHECK_EQUAL(probe->record.size_bytes, FIXED + 8);
    CHECK_EQUAL(probe->values_bytes, 6);
}

static void what_a_handler_wrote_behind_it_stays(void)
{
    struct detail_place place;
    struct detail_value value;
    const uint8_t *data;

    begin(RING_DROP);
    place = detail_lane_take(&lane, DETAIL_PROBE, FIXED, VALUES_AT, 64);
    leave(9);
    CHECK_EQUAL(agent_lab_take(), 0);
    memcpy(place.bytes + FIXED, "\x0b\0\x02\0hi", 6);
    detail_lane_put(&lane, place, FIXED, VALUES_AT, 6);
    CHECK_EQUAL(agent_lab_take(), 2);
    CHECK_EQUAL(agent_lab.records[0]->size_bytes, FIXED + 64);
    CHECK(agent_lab_value(agent_lab_record(0, DETAIL_PROBE), 0, &value, &data));
    CHECK(value.data_bytes == 2 && memcmp(data, "hi", 2) == 0);
    CHECK_EQUAL(agent_lab.records[1]->function, 9);
}

/* Behind a buffer's end there is room for what handlers write, but not for everything. */
static void what_handlers_write_without_end_is_counted(void)
{
    struct detail_place place;
    unsigned written = 50000;

    begin(RING_DROP);
    place = detail_lane_take(&lane, DETAIL_PROBE, FIXED, VALUES_AT, 0);
    for (unsigned i = 0; i < written; i++)
        leave(i);
    CHECK(lane.lost_bytes != 0);
    detail_lane_put(&lane, place, FIXED, VALUES_AT, 0);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.record_count - 1 + lane.lost_bytes / sizeof(struct detail_leave), written);
    /* The next one has a buffer of its own. */
    leave(1);
    CHECK_EQUAL(agent_lab_take(), agent_lab.record_count);
    CHECK_EQUAL(agent_lab.records[agent_lab.record_count - 1]->function, 1);
}

static jmp_buf behind;

/* Writes in the middle of a record, and never returns there. */
static __attribute__((noinline)) void jump_out(void)
{
    char deep[4096];

    deep[0] = 1;
    /* All of it is needed. */
    __asm__ volatile("" : : "r"(deep) : "memory");
    (void)detail_lane_take(&lane, DETAIL_PROBE, FIXED, VALUES_AT, 32);
    longjmp(behind, deep[0]);
}

static void a_record_that_was_jumped_out_of_does_not_hold_up_others(void)
{
    begin(RING_DROP);
    if (setjmp(behind) == 0)
        jump_out();
    leave(9);
    CHECK_EQUAL(agent_lab_take(), 2);
    CHECK_EQUAL(((const struct detail_leave *)agent_lab_record(1, DETAIL_LEAVE))->record.function, 9);
    CHECK_EQUAL(lane.nesting, 0);
}

/* ---- signal handlers --------------------------------------------------------------------------------------------- */

static atomic_uint handled;

static void write_in_handler(int signal)
{
    (void)signal;
    leave(1000000 + handled++);
}

static void handlers_write_between_any_two_instructions(void)
{
    const struct itimerspec often = {{0, 20000}, {0, 20000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    unsigned written = 0, own = 0, foreign = 0;
    timer_t timer;

    begin(RING_BLOCK);
    signal(SIGUSR1, write_in_handler);
    CHECK_EQUAL(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    timer_settime(timer, 0, &often, NULL);
    for (; written < 3000 && agent_lab.record_count < AGENT_LAB_RECORDS / 2; written++) {
        leave(written);
        if (written % 32 == 0)
            agent_lab_take();
    }
    timer_delete(timer);
    signal(SIGUSR1, SIG_IGN);
    detail_lane_close(&lane);
    agent_lab_take();
    for (unsigned i = 0; i < agent_lab.record_count; i++) {
        bool is_foreign = agent_lab.records[i]->function >= 1000000;

        CHECK_EQUAL(agent_lab.records[i]->function, is_foreign ? 1000000 + foreign : own);
        foreign += is_foreign;
        own += !is_foreign;
    }
    CHECK_EQUAL(own, written);
    CHECK_EQUAL(foreign, handled);
    CHECK_EQUAL(agent_lab.bad_bytes, 0);
    CHECK_EQUAL(agent_lab.lost_bytes, 0);
}

/* ---- threads and processes --------------------------------------------------------------------------------------- */

static void a_lane_is_opened_once_and_anew_when_it_was_closed(void)
{
    begin(RING_DROP);
    leave(1);
    CHECK(detail_lane_open(&lane, agent_lab.ring, &owner));
    leave(2);
    detail_lane_close(&lane);
    CHECK(lane.writer == NULL);
    detail_lane_close(&lane);
    CHECK(detail_lane_open(&lane, agent_lab.ring, &(struct detail_owner){.tid = 78, .give_up = &never}));
    leave(3);
    CHECK_EQUAL(agent_lab_take(), 3);
    CHECK_EQUAL(agent_lab.tid, 78);
    CHECK_EQUAL(agent_lab.ended_lanes, 1);
}

static void a_child_that_forgets_its_lane_writes_nothing_into_the_parents(void)
{
    int status;
    pid_t child;

    begin(RING_DROP);
    leave(1);
    child = fork();
    if (child == 0) {
        detail_lane_forget(&lane);
        _exit(lane.writer != NULL);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    leave(2);
    CHECK_EQUAL(agent_lab_take(), 2);
    CHECK_EQUAL(agent_lab.ended_lanes, 0);
}

static void a_killed_writer_leaves_what_was_complete(void)
{
    struct detail_place place;
    int status;
    pid_t child;

    agent_lab_begin(BUFFER_BYTES, RING_DROP);
    child = fork();
    if (child == 0) {
        CHECK(detail_lane_open(&lane, agent_lab.ring, &owner));
        leave(1);
        place = detail_lane_take(&lane, DETAIL_PROBE, FIXED, VALUES_AT, 32);
        leave(3);
        kill(getpid(), SIGKILL);
        detail_lane_put(&lane, place, FIXED, VALUES_AT, 0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(agent_lab_take(), 1);
    CHECK_EQUAL(agent_lab.records[0]->function, 1);
}

static const struct check_case cases[] = {
    CHECK_CASE(records_are_read_as_they_were_written),
    CHECK_CASE(values_of_a_result_are_behind_it),
    CHECK_CASE(of_a_stack_as_much_is_taken_as_can_be_read),
    CHECK_CASE(values_come_before_the_stack),
    CHECK_CASE(a_full_ring_loses_records_and_counts_them),
    CHECK_CASE(records_go_on_in_the_next_buffer),
    CHECK_CASE(room_that_is_not_needed_is_given_back),
    CHECK_CASE(what_a_handler_wrote_behind_it_stays),
    CHECK_CASE(what_handlers_write_without_end_is_counted),
    CHECK_CASE(a_record_that_was_jumped_out_of_does_not_hold_up_others),
    CHECK_CASE(handlers_write_between_any_two_instructions),
    CHECK_CASE(a_lane_is_opened_once_and_anew_when_it_was_closed),
    CHECK_CASE(a_child_that_forgets_its_lane_writes_nothing_into_the_parents),
    CHECK_CASE(a_killed_writer_leaves_what_was_complete),
};

CHECK_APART_MAIN(cases)
