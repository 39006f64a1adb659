/* SPDX-License-Identifier: MIT */
#include "agent/call_details.h"

#include "agent/errno_place.h"
#include "base/time_counter.h"
#include "gait/cpu_context.h"
#include "ring/trigger_log.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"

#include <dlfcn.h>
#include <errno.h>

#if defined(__x86_64__)

#define RESULT_REGISTER   0 /* rax */
#define STACK_REGISTER    4 /* rsp */
#define ARGUMENT_REGISTER 7 /* rdi */

static const _Atomic uint32_t never;
static const struct detail_owner owner = {.tid = 77, .give_up = &never};
static struct call_details_thread own;
static struct gait_cpu_context cpu;
static struct detailed_call call;
static _Alignas(16) uint64_t stack[64] = {0x401234, 1, 2, 3};
static struct trigger_log_place place;

/* A call that all patterns ask about. */
static void begin(void)
{
    call_details_begin(agent_lab.ring, &agent_lab.options);
    call = (struct detailed_call){.function = 0x401000,
                                  .sp = (uintptr_t)stack,
                                  .return_address = 0x401234,
                                  .entered_time = time_counter(),
                                  .patterns = UINT64_MAX};
    cpu.registers[STACK_REGISTER] = (uintptr_t)stack;
    cpu.registers[ARGUMENT_REGISTER] = (uintptr_t) "argument";
    cpu.registers[RESULT_REGISTER] = 42;
}

static bool next_trigger(struct ring_trigger *trigger_out)
{
    uint64_t missed;

    return trigger_log_next(agent_lab.reader, &place, trigger_out, &missed);
}

static void what_is_asked_is_known_by_the_patterns_numbers(void)
{
    agent_lab_begin(0, RING_DROP);
    agent_lab_add_pattern(AGENT_PATTERN_EXCLUDE, "a");
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "a");
    agent_lab_add_pattern(AGENT_PATTERN_TRIGGER_CALL, "a");
    agent_lab_add_pattern(AGENT_PATTERN_TRIGGER_SLOW, "a");
    agent_lab_add_pattern(AGENT_PATTERN_STACK, "a");
    agent_lab_add_pattern(AGENT_PATTERN_HOOK, "a");
    begin();
    CHECK_EQUAL(call_details_patterns(), 0x1e);
    CHECK_EQUAL(call_details_awaited(), 0x0a);
    CHECK_EQUAL(call_details_stacked(), 0x10);
    call_details_end();
    CHECK_EQUAL(call_details_patterns(), 0);
}

static void a_call_is_told_when_it_begins_and_ends(void)
{
    const struct detail_enter *entered;
    const struct detail_leave *left;

    agent_lab_begin(0, RING_DROP);
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "a");
    agent_lab.options.stack_bytes = 24;
    begin();
    call_details_enter(&own, &owner, &cpu, &call, 2);
    call_details_leave(&own, &owner, &cpu, &call, 2);
    call_details_leave(&own, &owner, NULL, &call, 1);
    CHECK_EQUAL(agent_lab_take(), 3);
    entered = agent_lab_record(0, DETAIL_ENTER);
    CHECK_EQUAL(entered->record.depth, 2);
    CHECK_EQUAL(entered->record.time, call.entered_time);
    CHECK_EQUAL(entered->caller, 0x401234);
    CHECK_EQUAL(entered->arguments[0], cpu.registers[ARGUMENT_REGISTER]);
    CHECK_EQUAL(entered->stack_bytes, 24);
    CHECK(memcmp(entered + 1, stack, 24) == 0);
    left = agent_lab_record(1, DETAIL_LEAVE);
    CHECK_EQUAL(left->value, 42);
    CHECK_EQUAL(left->entered_time, call.entered_time);
    CHECK(left->record.time >= call.entered_time);
    /* Left by an exception there is no result. */
    left = agent_lab_record(2, DETAIL_LEFT);
    CHECK_EQUAL(left->value, 0);
    CHECK_EQUAL(left->record.depth, 1);
    CHECK_EQUAL(agent_lab.tid, 77);
}

static void calls_that_no_pattern_means_leave_nothing(void)
{
    struct ring_trigger trigger;

    agent_lab_begin(0, RING_DROP);
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "a");
    agent_lab_add_pattern(AGENT_PATTERN_TRIGGER_CALL, "a");
    begin();
    call.patterns = 1u << 2;
    call_details_enter(&own, &owner, &cpu, &call, 0);
    call_details_leave(&own, &owner, &cpu, &call, 0);
    CHECK_EQUAL(agent_lab_take(), 0);
    CHECK(own.lane.writer == NULL);
    CHECK(!next_trigger(&trigger));
}

static void declared_arguments_and_results_are_captured(void)
{
    static const struct detail_declaration declaration = {.is_given = 1,
                                                          .has_errno = 1,
                                                          .count = 1,
                                                          .fields = {{DETAIL_TYPE_STRING, 0, 0}},
                                                          .result = {DETAIL_TYPE_I32, 0, 0}};
    struct detail_value value;
    const uint8_t *data;
    int number = 0;

    agent_lab_begin(0, RING_DROP);
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "a");
    agent_lab.options.string_bytes = 3;
    begin();
    call.declaration = &declaration;
    errno_place_add((uintptr_t)dlsym(RTLD_DEFAULT, "__errno_location"));
    call_details_enter(&own, &owner, &cpu, &call, 0);
    errno = ENOENT;
    cpu.registers[RESULT_REGISTER] = UINT64_MAX;
    call_details_leave(&own, &owner, &cpu, &call, 0);
    CHECK_EQUAL(agent_lab_take(), 2);
    CHECK(agent_lab_value(agent_lab.records[0], 0, &value, &data));
    CHECK_EQUAL(value.flags, DETAIL_VALUE_CLIPPED);
    CHECK(value.data_bytes == 3 && memcmp(data, "arg", 3) == 0);
    CHECK(agent_lab_value(agent_lab.records[1], 1, &value, &data));
    CHECK_EQUAL(value.type, DETAIL_TYPE_ERRNO);
    memcpy(&number, data, sizeof(number));
    CHECK_EQUAL(number, ENOENT);
}

static void calls_are_triggers_by_the_controllers_numbers(void)
{
    struct ring_trigger trigger;

    agent_lab_begin(0, RING_DROP);
    agent_lab_add_pattern(AGENT_PATTERN_TRIGGER_CALL, "a");
    agent_lab_add_pattern(AGENT_PATTERN_TRIGGER_CALL, "b");
    agent_lab.options.patterns[0].number = 500;
    agent_lab.options.patterns[1].number = 600;
    begin();
    call_details_enter(&own, &owner, &cpu, &call, 0);
    CHECK(next_trigger(&trigger));
    CHECK_EQUAL(trigger.kind, RING_TRIGGER_CALL);
    CHECK_EQUAL(trigger.number, 500);
    CHECK_EQUAL(trigger.tid, 77);
    CHECK_EQUAL(trigger.time, call.entered_time);
    CHECK(next_trigger(&trigger));
    CHECK_EQUAL(trigger.number, 600);
    CHECK(!next_trigger(&trigger));
    CHECK_EQUAL(agent_lab_take(), 0);
}

static void only_calls_that_take_longer_than_they_may_are_slow(void)
{
    struct ring_trigger trigger;

    agent_lab_begin(0, RING_DROP);
    agent_lab_add_pattern(AGENT_PATTERN_TRIGGER_SLOW, "a");
    agent_lab_add_pattern(AGENT_PATTERN_TRIGGER_SLOW, "b");
    agent_lab.options.patterns[0].number = 1;
    agent_lab.options.patterns[0].value = 5000000;
    agent_lab.options.patterns[1].number = 2;
    agent_lab.options.patterns[1].value = 3600000000000;
    begin();
    usleep(10000);
    call_details_leave(&own, &owner, &cpu, &call, 0);
    CHECK(next_trigger(&trigger));
    CHECK_EQUAL(trigger.kind, RING_TRIGGER_SLOW);
    CHECK_EQUAL(trigger.number, 1);
    CHECK(trigger.value != 0 && trigger.time - trigger.value == call.entered_time);
    CHECK(!next_trigger(&trigger));
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

static void without_memory_for_stacks_that_is_counted_once(void)
{
    struct ring_losses losses;
    uint64_t addresses[DETAIL_STACK_FRAMES_MAX];

    agent_lab_begin(0, RING_DROP);
    agent_lab_add_pattern(AGENT_PATTERN_STACK, "a");
    agent_lab.options.stack_frames = 8;
    /* Nothing walks yet. */
    begin();
    call_details_enter(&own, &owner, &cpu, &call, 0);
    call_details_enter(&own, &owner, &cpu, &call, 0);
    CHECK_EQUAL(call_details_walk(&own, &cpu, call.sp, addresses), 0);
    CHECK_EQUAL(agent_lab_take(), 0);
    ring_reader_losses(agent_lab.reader, &losses);
    CHECK_EQUAL(losses.no_memory_count, 1);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void a_thread_that_ends_closes_its_lane(void)
{
    agent_lab_begin(0, RING_DROP);
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "a");
    begin();
    call_details_enter(&own, &owner, &cpu, &call, 0);
    call_details_thread_ended(&own);
    CHECK_EQUAL(agent_lab_take(), 1);
    CHECK_EQUAL(agent_lab.ended_lanes, 1);
    /* One that is forgotten is the parent's. */
    call_details_enter(&own, &owner, &cpu, &call, 0);
    call_details_thread_forgotten(&own);
    CHECK(own.lane.writer == NULL);
    CHECK_EQUAL(agent_lab_take(), 2);
    CHECK_EQUAL(agent_lab.ended_lanes, 1);
}

/* The options come from another process. */
static void more_than_a_record_holds_is_not_taken(void)
{
    agent_lab_begin(0, RING_DROP);
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "a");
    agent_lab.options.stack_bytes = agent_lab.options.string_bytes = agent_lab.options.stack_frames = UINT32_MAX;
    begin();
    call_details_enter(&own, &owner, &cpu, &call, 0);
    CHECK_EQUAL(agent_lab_take(), 1);
    CHECK(agent_lab.records[0]->size_bytes <= DETAIL_ENTER_BYTES_MAX);
    CHECK_EQUAL(((const struct detail_enter *)agent_lab_record(0, DETAIL_ENTER))->stack_bytes, 512);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_asked_is_known_by_the_patterns_numbers),
    CHECK_CASE(a_call_is_told_when_it_begins_and_ends),
    CHECK_CASE(calls_that_no_pattern_means_leave_nothing),
    CHECK_CASE(declared_arguments_and_results_are_captured),
    CHECK_CASE(calls_are_triggers_by_the_controllers_numbers),
    CHECK_CASE(only_calls_that_take_longer_than_they_may_are_slow),
    CHECK_CASE(without_memory_for_stacks_that_is_counted_once),
    CHECK_CASE(a_thread_that_ends_closes_its_lane),
    CHECK_CASE(more_than_a_record_holds_is_not_taken),
};

CHECK_APART_MAIN(cases)

#else

int main(void)
{
    check_skip("registers are known by name on x86-64 only so far");
}

#endif
