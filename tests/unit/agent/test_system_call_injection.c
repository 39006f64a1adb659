/* SPDX-License-Identifier: MIT */
/* ThreadSanitizer holds signals back until its own calls, and there are none here. */
/* configurations: debug-* asan-* */
#include "agent/system_call_injection.h"

#include "agent/hook_details.h"
#include "base/clock_pair.h"
#include "hook/hook_thread.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"

#include <signal.h>
#include <sys/time.h>

#define LAST_NUMBER (AGENT_SYSTEM_CALL_WORDS * 64 - 1)

static struct hook_thread first_thread, second_thread;

static struct agent_injection *add(unsigned number, uint32_t first, uint32_t last, uint32_t step)
{
    struct agent_injection *injection = &agent_lab.options.injections[agent_lab.options.injection_count++];

    *injection = (struct agent_injection){.first = first, .last = last, .step = step, .result = -(int64_t)number};
    injection->system_calls[number / 64] |= 1ull << number % 64;
    return injection;
}

static void begin(void)
{
    CHECK_EQUAL(hook_details_begin(agent_lab.ring, &agent_lab.options), 0);
    system_call_injection_begin(&agent_lab.options);
}

/* Which of ten calls are picked, as a text. */
static const char *pick(struct hook_thread *thread, unsigned number)
{
    static char text[11];

    for (unsigned i = 0; i < 10; i++)
        text[i] = (char)('0' + system_call_injection_number(system_call_injection_pick(thread, number)));
    return text;
}

static void only_numbers_of_the_set_are_concerned(void)
{
    agent_lab_begin(0, RING_DROP);
    add(3, 1, UINT32_MAX, 1);
    begin();
    CHECK(system_call_injection_concerns(3));
    CHECK(!system_call_injection_concerns(2) && !system_call_injection_concerns(67));
    CHECK(!system_call_injection_concerns(UINT64_MAX));
    CHECK_TEXT(pick(&first_thread, 3), "1111111111");
    CHECK_TEXT(pick(&first_thread, 4), "0000000000");
    system_call_injection_end();
    CHECK(!system_call_injection_concerns(3));
    CHECK_TEXT(pick(&first_thread, 3), "0000000000");
}

static void the_last_number_stands_for_all_above_it(void)
{
    agent_lab_begin(0, RING_DROP);
    add(LAST_NUMBER, 1, UINT32_MAX, 1);
    begin();
    CHECK(system_call_injection_concerns(LAST_NUMBER) && system_call_injection_concerns(UINT64_MAX));
    CHECK(!system_call_injection_concerns(LAST_NUMBER - 1));
}

static void calls_are_picked_by_how_many_there_were(void)
{
    agent_lab_begin(0, RING_DROP);
    add(3, 2, 4, 1);
    add(4, 3, 3, 0);
    add(5, 2, 9, 3);
    begin();
    CHECK_TEXT(pick(&first_thread, 3), "0111000000");
    CHECK_TEXT(pick(&first_thread, 4), "0020000000");
    CHECK_TEXT(pick(&first_thread, 5), "0300300300");
}

static void each_thread_counts_for_itself(void)
{
    agent_lab_begin(0, RING_DROP);
    add(3, 3, 3, 1);
    begin();
    CHECK_TEXT(pick(&first_thread, 3), "0010000000");
    CHECK_TEXT(pick(&second_thread, 3), "0010000000");
    CHECK_TEXT(pick(&first_thread, 3), "0000000000");
}

static void of_several_the_last_counts_and_all_go_on_counting(void)
{
    agent_lab_begin(0, RING_DROP);
    add(3, 1, 4, 1);
    add(3, 3, 3, 1);
    begin();
    CHECK_TEXT(pick(&first_thread, 3), "1121000000");
}

static void what_was_picked_is_found_again_by_its_number(void)
{
    const struct agent_injection *picked;

    agent_lab_begin(0, RING_DROP);
    add(3, 1, 1, 1);
    add(4, 1, 1, 1);
    begin();
    picked = system_call_injection_pick(&first_thread, 4);
    CHECK(picked != NULL);
    CHECK_EQUAL(picked == NULL ? 0 : picked->result, -4);
    CHECK_EQUAL(system_call_injection_number(picked), 2);
    CHECK(system_call_injection_by_number(2) == picked);
    CHECK_EQUAL(system_call_injection_number(NULL), 0);
    CHECK(system_call_injection_by_number(0) == NULL);
    CHECK(system_call_injection_by_number(3) == NULL);
    CHECK(system_call_injection_by_number(UINT64_MAX) == NULL);
}

/* The options come from another process. */
static void too_many_are_cut_off(void)
{
    agent_lab_begin(0, RING_DROP);
    for (unsigned i = 0; i < AGENT_INJECTIONS_MAX; i++)
        add(i, 1, 1, 1);
    agent_lab.options.injection_count = UINT32_MAX;
    begin();
    CHECK(!system_call_injection_concerns(AGENT_INJECTIONS_MAX));
    CHECK(system_call_injection_by_number(AGENT_INJECTIONS_MAX) != NULL);
    CHECK(system_call_injection_by_number(AGENT_INJECTIONS_MAX + 1) == NULL);
}

static volatile sig_atomic_t signals;

static void count_signal(int signal)
{
    signals += signal == SIGALRM || signal == SIGUSR1;
}

static void waiting_goes_on_behind_signals(void)
{
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    uint64_t start_ns = clock_pair_read().monotonic_ns;

    signal(SIGALRM, count_signal);
    setitimer(ITIMER_REAL, &often, NULL);
    system_call_injection_wait(30000000);
    setitimer(ITIMER_REAL, &never, NULL);
    CHECK(clock_pair_read().monotonic_ns - start_ns >= 30000000);
    CHECK(signals > 2);
    system_call_injection_wait(0);
}

static void a_signal_comes_to_the_calling_thread(void)
{
    signal(SIGUSR1, count_signal);
    system_call_injection_signal(0);
    CHECK_EQUAL(signals, 0);
    system_call_injection_signal(SIGUSR1);
    CHECK_EQUAL(signals, 1);
}

static const struct check_case cases[] = {
    CHECK_CASE(only_numbers_of_the_set_are_concerned),
    CHECK_CASE(the_last_number_stands_for_all_above_it),
    CHECK_CASE(calls_are_picked_by_how_many_there_were),
    CHECK_CASE(each_thread_counts_for_itself),
    CHECK_CASE(of_several_the_last_counts_and_all_go_on_counting),
    CHECK_CASE(what_was_picked_is_found_again_by_its_number),
    CHECK_CASE(too_many_are_cut_off),
    CHECK_CASE(waiting_goes_on_behind_signals),
    CHECK_CASE(a_signal_comes_to_the_calling_thread),
};

CHECK_APART_MAIN(cases)
