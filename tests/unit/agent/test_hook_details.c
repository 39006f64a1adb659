/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Stubs are not for sanitized code. Functions are called by way of stubs whose listeners are those of the agent. */
#define _GNU_SOURCE
#include "agent/hook_details.h"

#include "agent/call_details.h"
#include "hook/hook_thread.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"
#include "support/hook_lab.h"

#include <pthread.h>
#include <setjmp.h>
#include <sys/resource.h>

#if defined(__x86_64__)

#define CODE_BYTES 256 /* no function here is longer */

static long (*hooked_add)(long a, long b);
static long (*hooked_sum)(long count);
static long (*hooked_outer)(long value);
static void (*hooked_jump)(int value);
static jmp_buf behind;

static AGENT_LAB_FUNCTION long add(long a, long b)
{
    __asm__ volatile("");
    return a + b;
}

static AGENT_LAB_FUNCTION long sum(long count)
{
    return count == 0 ? 0 : hooked_sum(count - 1) + count;
}

static AGENT_LAB_FUNCTION long outer(long value)
{
    return hooked_add(value, 1) + 1;
}

static AGENT_LAB_FUNCTION void jump(int value)
{
    __asm__ volatile("");
    longjmp(behind, value);
}

static void *hook(void *function, uint64_t patterns, const struct detail_declaration *declaration)
{
    struct hook_listener listener = {.enter = NULL};

    CHECK(hook_details_listener(patterns, declaration, &listener));
    return hook_lab_hook_with(function, HOOK_STUB_LISTEN | HOOK_STUB_RETURNS, &listener, 1);
}

static void begin_with(size_t buffer_bytes)
{
    agent_lab_begin(buffer_bytes, RING_DROP);
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "any");
    agent_lab_add_pattern(AGENT_PATTERN_STACK, "any");
    agent_lab.options.patterns[0].declaration = (struct detail_declaration){.is_given = 0};
}

static void hook_all(void)
{
    const struct hook_threads_options threads = {.ended = hook_details_thread_ended,
                                                 .forgotten = hook_details_thread_forgotten};

    CHECK_EQUAL(hook_details_begin(agent_lab.ring, &agent_lab.options), 0);
    hook_lab_begin();
    CHECK_EQUAL(hook_threads_begin(&threads), 0);
    hooked_add = (long (*)(long, long))hook((void *)add, 1, NULL);
    hooked_sum = (long (*)(long))hook((void *)sum, 1, NULL);
    hooked_outer = (long (*)(long))hook((void *)outer, 1, NULL);
    hooked_jump = (void (*)(int))hook((void *)jump, 1, NULL);
}

static void begin(void)
{
    begin_with(0);
    hook_all();
}

static const struct detail_enter *entered(unsigned which)
{
    return agent_lab_record(which, DETAIL_ENTER);
}

static const struct detail_leave *left(unsigned which)
{
    return agent_lab_record(which, DETAIL_LEAVE);
}

static uint64_t lacking_count(void)
{
    struct ring_losses losses;

    ring_reader_losses(agent_lab.reader, &losses);
    return losses.no_memory_count;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void calls_have_arguments_results_and_times(void)
{
    begin();
    CHECK_EQUAL(hooked_add(20, 22), 42);
    CHECK_EQUAL(hooked_add(-1, 0), -1);
    CHECK_EQUAL(agent_lab_take(), 4);
    CHECK_EQUAL(agent_lab.bad_bytes, 0);
    CHECK_EQUAL(entered(0)->record.function, (uintptr_t)add);
    CHECK_EQUAL(entered(0)->arguments[0], 20);
    CHECK_EQUAL(entered(0)->arguments[1], 22);
    CHECK(entered(0)->caller - (uintptr_t)calls_have_arguments_results_and_times < CODE_BYTES);
    CHECK_EQUAL(left(1)->value, 42);
    CHECK_EQUAL(left(1)->record.function, (uintptr_t)add);
    CHECK_EQUAL(left(1)->record.sp, entered(0)->record.sp);
    CHECK_EQUAL(left(1)->entered_time, entered(0)->record.time);
    CHECK(left(1)->record.time >= left(1)->entered_time);
    CHECK_EQUAL(left(3)->value, -1);
    CHECK_EQUAL(agent_lab.tid, gettid());
}

static void calls_within_calls_have_their_depth(void)
{
    begin();
    CHECK_EQUAL(hooked_sum(3), 6);
    CHECK_EQUAL(agent_lab_take(), 8);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQUAL(entered(i)->record.depth, i);
        CHECK_EQUAL(entered(i)->arguments[0], 3 - i);
        CHECK_EQUAL(left(7 - i)->record.depth, i);
        CHECK_EQUAL(left(7 - i)->record.sp, entered(i)->record.sp);
    }
}

static void calls_that_were_jumped_out_of_are_reported_as_left(void)
{
    const struct detail_leave *jumped;

    begin();
    if (setjmp(behind) == 0)
        hooked_jump(3);
    CHECK_EQUAL(hooked_add(1, 2), 3);
    CHECK_EQUAL(agent_lab_take(), 4);
    jumped = agent_lab_record(1, DETAIL_LEFT);
    CHECK_EQUAL(jumped->record.function, (uintptr_t)jump);
    CHECK_EQUAL(jumped->entered_time, entered(0)->record.time);
    CHECK_EQUAL(jumped->value, 0);
    CHECK_EQUAL(left(3)->value, 3);
}

static void returns_are_waited_for_only_where_they_are_asked_for(void)
{
    struct hook_listener listener;

    begin();
    CHECK(hook_details_listener(1u << 0, NULL, &listener));
    CHECK(listener.leave != NULL && listener.flags & HOOK_LISTENER_UNWOUND);
    CHECK(hook_details_listener(1u << 1, NULL, &listener));
    CHECK(listener.leave == NULL && listener.enter != NULL);
    CHECK(listener.flags & HOOK_LISTENER_GENERAL_ONLY);
}

static void each_function_has_the_declaration_that_it_came_with(void)
{
    static const struct detail_declaration text = {
        .is_given = 1, .count = 1, .fields = {{DETAIL_TYPE_STRING, 0, 0}}, .result = {DETAIL_TYPE_I32, 0, 0}};
    long (*hooked_text)(long, long);
    struct detail_value value;
    const uint8_t *data;

    begin_with(0);
    agent_lab.options.string_bytes = 16;
    hook_all();
    hooked_text = (long (*)(long, long))hook((void *)add, 1, &text);
    (void)hooked_text((long)"tea", 0);
    (void)hooked_add(1, 2);
    CHECK_EQUAL(agent_lab_take(), 4);
    CHECK(agent_lab_value(&entered(0)->record, 0, &value, &data));
    CHECK(value.type == DETAIL_TYPE_STRING && value.data_bytes == 3 && memcmp(data, "tea", 3) == 0);
    CHECK(agent_lab_value(agent_lab.records[1], 0, &value, &data) && value.type == DETAIL_TYPE_I32);
    CHECK_EQUAL(entered(2)->values_bytes, 0);
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

/* Hooks have put other return addresses there. */
static void stacks_have_the_programs_own_return_addresses(void)
{
    const struct detail_stack *stack;
    const uint64_t *frames;

    begin_with(0);
    agent_lab.options.stack_frames = 3;
    hook_all();
    hooked_add = (long (*)(long, long))hook((void *)add, 1u << 1, NULL);
    CHECK_EQUAL(hooked_outer(6), 8);
    CHECK_EQUAL(agent_lab_take(), 3);
    stack = agent_lab_record(1, DETAIL_STACK);
    frames = (const uint64_t *)(const void *)(stack + 1);
    CHECK_EQUAL(stack->frame_count, 3);
    CHECK_EQUAL(stack->flags, DETAIL_STACK_GOES_ON);
    CHECK(frames[0] - (uintptr_t)outer < CODE_BYTES);
    CHECK(frames[1] - (uintptr_t)stacks_have_the_programs_own_return_addresses < 2 * CODE_BYTES);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void *call_in_thread(void *unused)
{
    for (int i = 0; i < 50; i++)
        (void)hooked_add(i, i);
    return unused;
}

static void threads_have_lanes_of_their_own_which_end_with_them(void)
{
    pthread_t threads[4];

    begin();
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, call_in_thread, NULL), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    /* The kernel has not always forgotten them when others may know that they are gone. */
    for (unsigned tries = 0; tries < 5000 && agent_lab.ended_lanes < 4; tries++) {
        hook_threads_collect();
        agent_lab_take();
        usleep(1000);
    }
    CHECK_EQUAL(agent_lab.ended_lanes, 4);
    CHECK_EQUAL(agent_lab_count(DETAIL_ENTER, (uintptr_t)add), 200);
    CHECK_EQUAL(agent_lab_count(DETAIL_LEAVE, (uintptr_t)add), 200);
}

static void a_thread_has_one_lane_and_one_number_for_all_that_it_has(void)
{
    struct hook_thread *thread;
    struct detail_lane *lane;
    bool is_forked_out;

    begin();
    (void)hooked_add(1, 2);
    thread = hook_thread_current();
    lane = hook_details_lane(thread);
    CHECK(lane != NULL && lane == hook_details_lane(thread));
    (void)hooked_add(1, 2);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.record_count, 4);
    CHECK(thread->serial != 0);
    CHECK_EQUAL(thread->serial, agent_lab.serial);
    CHECK(hook_thread_obtain(&is_forked_out) == thread);
}

/* A lane that is asked for before anything is known of the thread. */
static void a_lane_that_is_asked_for_takes_the_threads_number(void)
{
    struct hook_thread *thread;
    bool is_forked_out;

    begin();
    thread = hook_thread_obtain(&is_forked_out);
    thread->serial = 4711;
    CHECK(hook_details_lane(thread) != NULL);
    CHECK_EQUAL(thread->serial, 4711);
    (void)hooked_add(1, 2);
    CHECK_EQUAL(agent_lab_take(), 2);
    CHECK_EQUAL(agent_lab.serial, 4711);
}

static void counts_of_system_calls_begin_at_nothing_and_stay(void)
{
    struct hook_thread *thread;
    uint32_t *counts;
    bool is_forked_out;

    begin();
    thread = hook_thread_obtain(&is_forked_out);
    counts = hook_details_call_counts(thread);
    CHECK(counts != NULL);
    for (unsigned i = 0; i < AGENT_INJECTIONS_MAX; i++)
        CHECK_EQUAL(counts[i], 0);
    counts[3] = 7;
    (void)hooked_add(1, 2);
    CHECK(hook_details_call_counts(thread) == counts);
    CHECK_EQUAL(counts[3], 7);
}

static void all_lanes_are_closed_at_the_end(void)
{
    begin();
    (void)hooked_add(1, 2);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.ended_lanes, 0);
    hook_details_end_threads();
    hook_details_end();
    agent_lab_take();
    CHECK_EQUAL(agent_lab.ended_lanes, 1);
    CHECK(hook_thread_current()->details == NULL);
    /* Nothing is left to be had. */
    CHECK(hook_details_lane(hook_thread_current()) == NULL);
    CHECK(hook_details_call_counts(hook_thread_current()) == NULL);
    hook_details_end_threads();
    hook_details_end();
}

/* In a child that was forked, what threads had is the parent's. */
static void what_is_forgotten_stays_open(void)
{
    begin();
    (void)hooked_add(1, 2);
    hook_details_thread_forgotten(hook_thread_current());
    CHECK(hook_thread_current()->details == NULL);
    hook_details_thread_forgotten(hook_thread_current());
    hook_details_thread_ended(hook_thread_current());
    CHECK_EQUAL(agent_lab_take(), 2);
    CHECK_EQUAL(agent_lab.ended_lanes, 0);
    /* And begins anew. */
    (void)hooked_add(3, 4);
    CHECK_EQUAL(agent_lab_take(), 4);
    CHECK_EQUAL(entered(2)->arguments[0], 3);
}

/* ---- without room ------------------------------------------------------------------------------------------------ */

static void limit_memory(rlim_t most_bytes)
{
    const struct rlimit limit = {most_bytes, RLIM_INFINITY};

    CHECK_EQUAL(setrlimit(RLIMIT_AS, &limit), 0);
}

static void without_memory_calls_work_and_that_is_counted(void)
{
    struct hook_listener listener;
    bool is_forked_out;
    unsigned count = 0;

    begin();
    (void)hook_thread_obtain(&is_forked_out);
    limit_memory(1);
    CHECK_EQUAL(hooked_add(20, 22), 42);
    CHECK(hook_details_lane(hook_thread_current()) == NULL);
    /* Until all that was taken before is used up. */
    while (count < 1u << 20 && hook_details_listener(1, NULL, &listener))
        count++;
    limit_memory(RLIM_INFINITY);
    CHECK(count < 1u << 20);
    CHECK(lacking_count() != 0);
    CHECK_EQUAL(agent_lab_take(), 0);
    CHECK_EQUAL(hooked_add(1, 2), 3);
    CHECK_EQUAL(agent_lab_take(), 2);
}

static void what_a_full_ring_does_not_hold_is_counted(void)
{
    enum { CALLS = 20000 };
    uint64_t call_bytes;

    begin_with(4096);
    hook_all();
    (void)hooked_add(1, 2);
    agent_lab_take();
    call_bytes = agent_lab.used;
    CHECK(call_bytes != 0);
    for (int i = 0; i < CALLS; i++)
        CHECK_EQUAL(hooked_add(i, 1), i + 1);
    hook_details_end_threads();
    agent_lab_take();
    CHECK_EQUAL(agent_lab.ended_lanes, 1);
    CHECK_EQUAL(agent_lab.bad_bytes, 0);
    CHECK(agent_lab.record_count < 2 * CALLS);
    CHECK_EQUAL(agent_lab.used + ring_reader_lost(agent_lab.reader), (CALLS + 1) * call_bytes);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_have_arguments_results_and_times),
    CHECK_CASE(calls_within_calls_have_their_depth),
    CHECK_CASE(calls_that_were_jumped_out_of_are_reported_as_left),
    CHECK_CASE(returns_are_waited_for_only_where_they_are_asked_for),
    CHECK_CASE(each_function_has_the_declaration_that_it_came_with),
    CHECK_CASE(stacks_have_the_programs_own_return_addresses),
    CHECK_CASE(threads_have_lanes_of_their_own_which_end_with_them),
    CHECK_CASE(a_thread_has_one_lane_and_one_number_for_all_that_it_has),
    CHECK_CASE(a_lane_that_is_asked_for_takes_the_threads_number),
    CHECK_CASE(counts_of_system_calls_begin_at_nothing_and_stay),
    CHECK_CASE(all_lanes_are_closed_at_the_end),
    CHECK_CASE(what_is_forgotten_stays_open),
    CHECK_CASE(without_memory_calls_work_and_that_is_counted),
    CHECK_CASE(what_a_full_ring_does_not_hold_is_counted),
};

CHECK_APART_MAIN(cases)

#else

int main(void)
{
    check_skip("hooks are for x86-64 so far");
}

#endif
