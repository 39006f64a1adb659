/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Sanitized code is neither followed nor hooked. Without a tracer the test itself comes to the agent's entrance. */
#define _GNU_SOURCE
#include "agent/session.h"
#include "arch/thread_landing.h"
#include "arch/thread_registers.h"
#include "base/clock_pair.h"
#include "hook/hook_thread.h"
#include "protocol/agent_call.h"
#include "support/agent_lab.h"
#include "support/agent_target.h"
#include "support/check_apart.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#if defined(__x86_64__)

#include "arch/x86_64/isa/user_registers.h"

void agent_main(void *context, struct thread_registers *registers);

static struct agent_call call;
#define STACK_WORDS 32768

static _Alignas(16) uint64_t stack[STACK_WORDS];

static struct thread_registers registers_of_a_program(void)
{
    struct thread_registers registers = {0};

    thread_registers_set_pc(&registers, (uintptr_t)registers_of_a_program);
    thread_registers_set_sp(&registers, (uintptr_t)(stack + STACK_WORDS - 8));
    return registers;
}

static int ask(uint32_t operation)
{
    struct thread_registers registers = registers_of_a_program();

    call.operation = operation;
    atomic_store(&call.phase, AGENT_CALL_RUNS);
    agent_main(&call, &registers);
    return call.result;
}

/* ---- without a tracer -------------------------------------------------------------------------------------------- */

static void a_thread_whose_tracer_has_died_goes_on_by_itself(void)
{
    uint64_t start_ns = clock_pair_read().monotonic_ns, waited_ns;

    CHECK_EQUAL(ask(AGENT_LOOK), 0);
    waited_ns = clock_pair_read().monotonic_ns - start_ns;
    CHECK_EQUAL(atomic_load(&call.phase), AGENT_CALL_LEFT);
    CHECK(waited_ns >= AGENT_CALL_WAIT_MS * 900000ull);
    CHECK(waited_ns < AGENT_CALL_WAIT_MS * 60000000ull);
}

static void what_the_agent_does_not_know_is_refused(void)
{
    static const uint32_t unknown[] = {0, AGENT_END + 1, UINT32_MAX};

    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(ask(unknown[i]), -EINVAL);
    CHECK_EQUAL(session_end(), 0);
}

static volatile sig_atomic_t signals;
static bool is_taken;

/* As a tracer would, when the thread stops for it. */
static void on_start(int number)
{
    signals += number == AGENT_START_SIGNAL;
    CHECK_EQUAL(atomic_load(&call.phase), AGENT_CALL_DONE);
    CHECK_EQUAL(call.followed_count, 1);
    if (is_taken)
        atomic_store(&call.phase, AGENT_CALL_TAKEN);
}

static uint32_t expected_count;

/* Where the program goes on; if it should not be followed, it may have left on its way here. */
static _Noreturn void go_on(void)
{
    CHECK_EQUAL(session_followed_count(), expected_count);
    fflush(stdout);
    _exit(check_failures != 0);
}

/* Lets the process go on as a program that has begun. */
static _Noreturn void begin_program(void)
{
    static struct thread_landing landing;
    struct x86_user_registers *user = x86_user_registers(&landing.registers);
    sigset_t all;

    signal(AGENT_START_SIGNAL, on_start);
    user->rip = (uintptr_t)go_on;
    user->rsp = ((uintptr_t)(stack + STACK_WORDS) & ~15ull) - sizeof(uint64_t);
    user->cs = 0x33;
    user->ss = 0x2b;
    user->eflags = 0x202;
    user->orig_rax = UINT64_MAX;
    call.operation = AGENT_START;
    call.options.is_whole = call.options.new_threads = 1;
    call.options.events = GAIT_EVENT_CALL;
    agent_main(&call, &landing.registers);
    CHECK_EQUAL(call.result, 0);
    CHECK_EQUAL(signals, 1);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    thread_landing_leave(&landing);
}

static void a_program_that_nobody_takes_begins_as_it_would(void)
{
    expected_count = 0;
    begin_program();
}

static void a_program_that_is_taken_begins_in_translated_code(void)
{
    is_taken = true;
    expected_count = 1;
    begin_program();
}

/* ---- programs that forbid themselves the counter of time -----------------------------------------------------------
 */

static int counter_mode(void)
{
    int mode = 0;

    CHECK_EQUAL(prctl(PR_GET_TSC, &mode), 0);
    return mode;
}

static bool forbid_counter(void)
{
    return prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0;
}

static void allow_counter(void)
{
    CHECK_EQUAL(prctl(PR_SET_TSC, PR_TSC_ENABLE), 0);
}

static void such_programs_are_not_followed(void)
{
    call.may_change_counter = 1;
    call.options.events = GAIT_EVENT_CALL;
    if (!forbid_counter())
        check_skip("the counter of time cannot be forbidden here");
    CHECK_EQUAL(ask(AGENT_PREPARE), -EPERM);
    CHECK_EQUAL(call.is_counter_forbidden, 1);
    CHECK_EQUAL(ask(AGENT_BEGIN), -EPERM);
    CHECK_EQUAL(counter_mode(), PR_TSC_SIGSEGV);
    CHECK_EQUAL(ask(AGENT_END), 0);
    CHECK_EQUAL(counter_mode(), PR_TSC_SIGSEGV);
    allow_counter();
    CHECK_EQUAL(session_followed_count(), 0);
}

static void such_programs_are_hooked_and_still_may_not_read_it(void)
{
    bool is_forked_out;

    call.may_change_counter = 1;
    call.options.events = EVENTS_HOOKED;
    if (!forbid_counter())
        check_skip("the counter of time cannot be forbidden here");
    CHECK_EQUAL(ask(AGENT_PREPARE), 0);
    CHECK_EQUAL(counter_mode(), PR_TSC_SIGSEGV);
    CHECK_EQUAL(ask(AGENT_BEGIN), 0);
    CHECK_EQUAL(counter_mode(), PR_TSC_SIGSEGV);
    CHECK(call.hooked_count != 0);
    CHECK(hook_thread_obtain(&is_forked_out)->is_counter_forbidden);
    allow_counter();
    CHECK(!hook_thread_obtain(&is_forked_out)->is_counter_forbidden);
}

static void where_a_filter_may_forbid_it_the_counter_is_not_asked_about(void)
{
    call.options.events = EVENTS_HOOKED;
    if (!forbid_counter())
        check_skip("the counter of time cannot be forbidden here");
    CHECK_EQUAL(ask(AGENT_END), 0);
    CHECK_EQUAL(call.is_counter_forbidden, 0);
    CHECK_EQUAL(counter_mode(), PR_TSC_SIGSEGV);
    allow_counter();
}

/* ---- with a tracer ----------------------------------------------------------------------------------------------- */

static _Atomic unsigned *turns;

static int work(void)
{
    /* Until there is enough of it, however long it is stopped. */
    while (atomic_fetch_add(turns, 1) < 1u << 30)
        ;
    return 0;
}

static void a_call_is_answered_and_the_thread_goes_on_where_it_was(void)
{
    struct thread_registers before, after;

    turns = mmap(NULL, sizeof(*turns), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    agent_target_start(work);
    while (atomic_load(turns) == 0)
        usleep(100);
    agent_target_stop();
    CHECK_EQUAL(tracee_get_registers(&agent_target.group.threads[0], &before), 0);
    CHECK_EQUAL(agent_target_ask((enum agent_operation)77, 0), -EINVAL);
    CHECK_EQUAL(agent_target.call.followed_count + agent_target.call.hooked_count, 0);
    agent_target.call.options.events = GAIT_EVENT_CALL;
    CHECK_EQUAL(agent_target_ask(AGENT_PREPARE, 0), 0);
    CHECK_EQUAL(tracee_get_registers(&agent_target.group.threads[0], &after), 0);
    CHECK(memcmp(&before, &after, thread_registers_size_bytes()) == 0);
    CHECK_EQUAL(agent_target_ask(AGENT_BEGIN, 0), 0);
    CHECK_EQUAL(agent_target.call.followed_count, 1);
    CHECK_EQUAL(tracee_get_registers(&agent_target.group.threads[0], &after), 0);
    CHECK(thread_registers_pc(&before) != thread_registers_pc(&after));
    agent_target_go();
    CHECK(agent_target_leave());
    atomic_store(turns, 1u << 30);
    CHECK_EQUAL(agent_target_end(), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_thread_whose_tracer_has_died_goes_on_by_itself),
    CHECK_CASE(what_the_agent_does_not_know_is_refused),
    CHECK_CASE(a_program_that_nobody_takes_begins_as_it_would),
    CHECK_CASE(a_program_that_is_taken_begins_in_translated_code),
    CHECK_CASE(such_programs_are_not_followed),
    CHECK_CASE(such_programs_are_hooked_and_still_may_not_read_it),
    CHECK_CASE(where_a_filter_may_forbid_it_the_counter_is_not_asked_about),
    CHECK_CASE(a_call_is_answered_and_the_thread_goes_on_where_it_was),
};

CHECK_APART_MAIN(cases)

#else

int main(void)
{
    check_skip("threads are not followed on this CPU yet");
}

#endif
