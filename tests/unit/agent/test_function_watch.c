/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Sanitized code is not followed. The test follows itself. */
#define _GNU_SOURCE
#include "agent/function_watch.h"

#include "agent/call_stack.h"
#include "ring/trigger_log.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"

#include <pthread.h>
#include <setjmp.h>

#if defined(__x86_64__)

static struct stalker_engine *engine;
static uint32_t detailed;

int add_up(int count);
/* edi is added up to eax; the loop goes back to the first instruction, the other function calls itself at its end. */
int count_down(int count);
__asm__(".pushsection .text\n"
        ".type count_down, @function\n"
        "count_down: decl %edi\n"
        "jnz count_down\n"
        "movl $7, %eax\n"
        "ret\n"
        "nop\nnop\n"
        ".popsection");
#define COUNT_DOWN_BYTES 12

static AGENT_LAB_FUNCTION int add(int a, int b)
{
    __asm__ volatile("");
    return a + b;
}

/* Compilers would make a loop of it. */
static int (*volatile add_more)(int count) = add_up;

AGENT_LAB_FUNCTION int add_up(int count)
{
    return count == 0 ? 0 : add_more(count - 1) + count;
}

static void begin(void)
{
    agent_lab_begin(0, RING_DROP);
    engine = agent_lab_engine();
    detailed = agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "detailed");
    agent_lab.options.patterns[detailed].declaration = (struct detail_declaration){.is_given = 0};
}

static void watch(const void *function, uint32_t pattern, uint64_t size_bytes)
{
    function_watch_add(&agent_lab.options.patterns[pattern], pattern, (uintptr_t)function, size_bytes);
}

static void begin_with(const void *function)
{
    begin();
    CHECK_EQUAL(function_watch_begin(engine, agent_lab.ring, &agent_lab.options), 0);
    watch(function, detailed, 0);
}

static void run(void (*function)(void))
{
    agent_lab_follow(engine, 0, function);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.bad_bytes, 0);
}

static void add_twice(void)
{
    CHECK_EQUAL(add(20, 22), 42);
    CHECK_EQUAL(add(-1, 0), -1);
}

static void calls_are_told_with_arguments_and_results(void)
{
    const struct detail_enter *entered;
    const struct detail_leave *left;

    begin_with((const void *)add);
    run(add_twice);
    CHECK_EQUAL(agent_lab.record_count, 4);
    entered = agent_lab_record(0, DETAIL_ENTER);
    CHECK_EQUAL(entered->record.function, (uintptr_t)add);
    CHECK_EQUAL((int)entered->arguments[0], 20);
    CHECK_EQUAL((int)entered->arguments[1], 22);
    CHECK_EQUAL(entered->record.depth, 0);
    CHECK(entered->caller > (uintptr_t)add_twice && entered->caller < (uintptr_t)add_twice + 256);
    left = agent_lab_record(1, DETAIL_LEAVE);
    CHECK_EQUAL((int)left->value, 42);
    CHECK_EQUAL(left->entered_time, entered->record.time);
    CHECK_EQUAL((int)((const struct detail_leave *)agent_lab_record(3, DETAIL_LEAVE))->value, -1);
    CHECK_EQUAL(agent_lab.ended_lanes, 1);
}

static void recurse(void)
{
    CHECK_EQUAL(add_up(5), 15);
}

static void recursion_is_told_with_its_depth(void)
{
    static const int results[] = {0, 1, 3, 6, 10, 15};

    begin_with((const void *)add_up);
    run(recurse);
    CHECK_EQUAL(agent_lab.record_count, 12);
    for (unsigned i = 0; i < 6; i++) {
        CHECK_EQUAL(((const struct detail_enter *)agent_lab_record(i, DETAIL_ENTER))->record.depth, i);
        CHECK_EQUAL((int)((const struct detail_leave *)agent_lab_record(6 + i, DETAIL_LEAVE))->value, results[i]);
        CHECK_EQUAL(agent_lab.records[6 + i]->depth, 5 - i);
    }
}

static void recurse_deeply(void)
{
    CHECK_EQUAL(add_up(1000), 500500);
}

static void deeper_calls_than_there_is_room_for_still_begin(void)
{
    begin_with((const void *)add_up);
    run(recurse_deeply);
    CHECK_EQUAL(agent_lab_count(DETAIL_ENTER, (uintptr_t)add_up), 1001);
    CHECK_EQUAL(agent_lab_count(DETAIL_LEAVE, (uintptr_t)add_up), 256);
}

/* ---- other ways out ---------------------------------------------------------------------------------------------- */

static jmp_buf behind;

static AGENT_LAB_FUNCTION void jump_out(int value)
{
    __asm__ volatile("");
    longjmp(behind, value);
}

/* Compilers would see that it does not return. */
static void (*volatile leave_by_jump)(int value) = jump_out;

static void jump(void)
{
    if (setjmp(behind) == 0) {
        leave_by_jump(3);
        /* Where it would return is not where the jump leads. */
        __asm__ volatile("nop");
    }
    /* That is noticed when the next call comes by. */
    (void)add(1, 2);
}

static void calls_that_were_jumped_out_of_are_told_as_left(void)
{
    begin_with((const void *)jump_out);
    watch((const void *)add, detailed, 0);
    run(jump);
    CHECK_EQUAL(agent_lab_count(DETAIL_ENTER, (uintptr_t)jump_out), 1);
    CHECK_EQUAL(agent_lab_count(DETAIL_LEAVE, (uintptr_t)jump_out), 0);
    CHECK_EQUAL(agent_lab_count(DETAIL_LEFT, (uintptr_t)jump_out), 1);
    CHECK_EQUAL(agent_lab_count(DETAIL_LEAVE, (uintptr_t)add), 1);
}

static void count(void)
{
    CHECK_EQUAL(count_down(5), 7);
}

static void a_loop_to_the_first_instruction_is_one_call(void)
{
    begin();
    CHECK_EQUAL(function_watch_begin(engine, agent_lab.ring, &agent_lab.options), 0);
    watch((const void *)count_down, detailed, COUNT_DOWN_BYTES);
    run(count);
    CHECK_EQUAL(agent_lab_count(DETAIL_ENTER, UINT64_MAX), 1);
    CHECK_EQUAL(agent_lab_count(DETAIL_LEAVE, UINT64_MAX), 1);
    CHECK_EQUAL(agent_lab_count(DETAIL_LEFT, UINT64_MAX), 0);
}

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

static void what_was_removed_is_not_told_any_more(void)
{
    begin_with((const void *)add);
    watch((const void *)add_up, detailed, 0);
    function_watch_remove((uintptr_t)add, (uintptr_t)add + 1);
    run(add_twice);
    CHECK_EQUAL(agent_lab.record_count, 0);
    run(recurse);
    CHECK_EQUAL(agent_lab.record_count, 12);
    /* And is again when it is added anew. */
    watch((const void *)add, detailed, 0);
    agent_lab_clear();
    run(add_twice);
    CHECK_EQUAL(agent_lab_count(DETAIL_ENTER, (uintptr_t)add), 2);
}

static const struct detail_value *first_value(void)
{
    static struct detail_value value;
    const uint8_t *data;

    value = (struct detail_value){0};
    CHECK(agent_lab.record_count != 0 && agent_lab_value(agent_lab.records[0], 0, &value, &data));
    return &value;
}

static const struct detail_declaration known = {.is_given = 1, .count = 1, .fields = {{DETAIL_TYPE_U8, 0, 0}}};

static void what_the_controller_knows_of_arguments_counts_if_the_user_says_nothing(void)
{
    begin_with((const void *)add);
    function_watch_declare((uintptr_t)add, &known);
    run(add_twice);
    CHECK_EQUAL(first_value()->type, DETAIL_TYPE_U8);
}

static void what_the_user_says_of_arguments_comes_first(void)
{
    begin();
    agent_lab.options.patterns[detailed].declaration =
        (struct detail_declaration){.is_given = 1, .count = 1, .fields = {{DETAIL_TYPE_I16, 0, 0}}};
    CHECK_EQUAL(function_watch_begin(engine, agent_lab.ring, &agent_lab.options), 0);
    watch((const void *)add, detailed, 0);
    function_watch_declare((uintptr_t)add, &known);
    run(add_twice);
    CHECK_EQUAL(first_value()->type, DETAIL_TYPE_I16);
}

static void calls_may_be_triggers_only(void)
{
    struct trigger_log_place place = {0};
    struct ring_trigger trigger;
    uint64_t missed;
    uint32_t which;

    begin();
    which = agent_lab_add_pattern(AGENT_PATTERN_TRIGGER_CALL, "add");
    agent_lab.options.patterns[which].number = 9;
    CHECK_EQUAL(function_watch_begin(engine, agent_lab.ring, &agent_lab.options), 0);
    watch((const void *)add, which, 0);
    run(add_twice);
    CHECK_EQUAL(agent_lab.record_count, 0);
    for (unsigned i = 0; i < 2; i++)
        CHECK(trigger_log_next(agent_lab.reader, &place, &trigger, &missed) && trigger.number == 9);
    CHECK(!trigger_log_next(agent_lab.reader, &place, &trigger, &missed));
}

static void stacks_say_who_called(void)
{
    const struct detail_stack *stack;
    const uint64_t *frames;
    uint32_t which;

    begin();
    which = agent_lab_add_pattern(AGENT_PATTERN_STACK, "add_up");
    agent_lab.options.stack_frames = 4;
    CHECK_EQUAL(call_stack_begin(NULL), 0);
    CHECK_EQUAL(function_watch_begin(engine, agent_lab.ring, &agent_lab.options), 0);
    watch((const void *)add_up, which, 0);
    run(recurse);
    CHECK_EQUAL(agent_lab.record_count, 6);
    stack = agent_lab_record(5, DETAIL_STACK);
    frames = (const uint64_t *)(const void *)(stack + 1);
    CHECK_EQUAL(stack->frame_count, 4);
    CHECK_EQUAL(stack->flags, DETAIL_STACK_GOES_ON);
    for (unsigned i = 0; i < 4; i++)
        CHECK(frames[i] > (uintptr_t)add_up && frames[i] < (uintptr_t)add_up + 256);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void *add_in_thread(void *unused)
{
    (void)unused;
    for (int i = 0; i < 50; i++)
        (void)add(i, i);
    return NULL;
}

static void add_in_threads(void)
{
    pthread_t threads[4];

    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, add_in_thread, NULL), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void threads_have_lanes_of_their_own_which_end_with_them(void)
{
    begin_with((const void *)add);
    run(add_in_threads);
    CHECK_EQUAL(agent_lab_count(DETAIL_ENTER, (uintptr_t)add), 200);
    CHECK_EQUAL(agent_lab_count(DETAIL_LEAVE, (uintptr_t)add), 200);
    CHECK_EQUAL(agent_lab.ended_lanes, 4);
    /* Of each, what it did last is told last. */
    for (unsigned i = 0; i < agent_lab.record_count; i += 2) {
        agent_lab_record(i, DETAIL_ENTER);
        agent_lab_record(i + 1, DETAIL_LEAVE);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_are_told_with_arguments_and_results),
    CHECK_CASE(recursion_is_told_with_its_depth),
    CHECK_CASE(deeper_calls_than_there_is_room_for_still_begin),
    CHECK_CASE(calls_that_were_jumped_out_of_are_told_as_left),
    CHECK_CASE(a_loop_to_the_first_instruction_is_one_call),
    CHECK_CASE(what_was_removed_is_not_told_any_more),
    CHECK_CASE(what_the_controller_knows_of_arguments_counts_if_the_user_says_nothing),
    CHECK_CASE(what_the_user_says_of_arguments_comes_first),
    CHECK_CASE(calls_may_be_triggers_only),
    CHECK_CASE(stacks_say_who_called),
    CHECK_CASE(threads_have_lanes_of_their_own_which_end_with_them),
};

CHECK_APART_MAIN(cases)

#else

int main(void)
{
    check_skip("threads are not followed on this CPU yet");
}

#endif
