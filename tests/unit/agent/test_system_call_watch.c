/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Stubs are not for sanitized code. Calls are made by a function whose instruction was patched. */
#define _GNU_SOURCE
#include "agent/system_call_watch.h"

#include "agent/call_stack.h"
#include "agent/hook_details.h"
#include "base/clock_pair.h"
#include "hook/hook_thread.h"
#include "hook/return_tracking.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"
#include "support/patched_call.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>

#if defined(__x86_64__)

static patched_call call;
static struct system_call_stub stub;
static struct hook_plan plan;
static unsigned mapped_count;

static void mapped(void)
{
    mapped_count++;
}

static void want(unsigned number)
{
    agent_lab.options.system_calls[number / 64] |= 1ull << number % 64;
}

static void prepare(void)
{
    agent_lab_begin(0, RING_DROP);
    agent_lab.options.tells_system_calls = 1;
    agent_lab.options.system_call_bytes = 16;
}

static void begin(void)
{
    const struct hook_threads_options threads = {.ended = hook_details_thread_ended,
                                                 .forgotten = hook_details_thread_forgotten};

    CHECK_EQUAL(hook_threads_begin(&threads), 0);
    CHECK_EQUAL(hook_details_begin(agent_lab.ring, &agent_lab.options), 0);
    CHECK_EQUAL(system_call_watch_begin(&agent_lab.options, mapped), 0);
    call = patched_call_make(&stub, &plan);
}

static const struct detail_system_call *told(unsigned which)
{
    return agent_lab_record(which, DETAIL_SYSTEM_CALL);
}

static void calls_of_the_set_are_told(void)
{
    prepare();
    want(SYS_getppid);
    want(SYS_close);
    begin();
    CHECK(system_call_watch_is_wanted());
    CHECK_EQUAL(call(SYS_getppid, 1, 2, 3, 4, 5), getppid());
    CHECK_EQUAL(call(SYS_getpid, 0, 0, 0, 0, 0), getpid());
    CHECK_EQUAL(call(SYS_close, -1, 0, 0, 0, 0), -EBADF);
    CHECK_EQUAL(agent_lab_take(), 2);
    CHECK_EQUAL(told(0)->record.function, SYS_getppid);
    CHECK_EQUAL(told(0)->arguments[4], 5);
    CHECK_EQUAL(told(1)->result, -EBADF);
    CHECK_EQUAL(agent_lab.tid, gettid());
}

static void without_being_asked_for_none_are_told(void)
{
    prepare();
    want(SYS_getppid);
    agent_lab.options.tells_system_calls = 0;
    CHECK_EQUAL(system_call_watch_begin(&agent_lab.options, mapped), 0);
    CHECK(!system_call_watch_is_wanted());
    system_call_watch_started();
    system_call_watch_end();
}

static void calls_that_may_end_the_program_are_told_before(void)
{
    prepare();
    want(SYS_execve);
    want(SYS_exit);
    begin();
    CHECK_EQUAL(call(SYS_execve, (long)"/bin/no-such-program", 0, 0, 0, 0), -ENOENT);
    if (fork() == 0)
        call(SYS_exit, 3, 0, 0, 0, 0);
    (void)wait(NULL);
    agent_lab_take();
    agent_lab_record(0, DETAIL_SYSTEM_CALL_ENTER);
    CHECK_EQUAL(told(1)->result, -ENOENT);
}

static void a_call_that_never_returns_is_told(void)
{
    prepare();
    want(SYS_exit_group);
    if (fork() == 0) {
        begin();
        call(SYS_exit_group, 3, 0, 0, 0, 0);
    }
    (void)wait(NULL);
    CHECK_EQUAL(agent_lab_take(), 1);
    CHECK_EQUAL(told(0)->flags, DETAIL_SYSTEM_CALL_NEVER_RETURNED);
    CHECK_EQUAL(told(0)->arguments[0], 3);
}

/* ---- what is made to happen -------------------------------------------------------------------------------------- */

static struct agent_injection *inject(unsigned number)
{
    struct agent_injection *injection = &agent_lab.options.injections[agent_lab.options.injection_count++];

    *injection = (struct agent_injection){.first = 2, .last = 2, .step = 1};
    injection->system_calls[number / 64] |= 1ull << number % 64;
    want(number);
    return injection;
}

static volatile sig_atomic_t signals;

static void count_signal(int signal)
{
    (void)signal;
    signals++;
}

static void a_call_may_be_answered_without_being_made(void)
{
    struct agent_injection *injection;

    prepare();
    injection = inject(SYS_getppid);
    injection->has_result = 1;
    injection->result = -EXDEV;
    injection->signal = SIGUSR1;
    begin();
    signal(SIGUSR1, count_signal);
    CHECK_EQUAL(call(SYS_getppid, 0, 0, 0, 0, 0), getppid());
    CHECK_EQUAL(signals, 0);
    CHECK_EQUAL(call(SYS_getppid, 0, 0, 0, 0, 0), -EXDEV);
    CHECK_EQUAL(signals, 1);
    CHECK_EQUAL(call(SYS_getppid, 0, 0, 0, 0, 0), getppid());
    CHECK_EQUAL(agent_lab_take(), 3);
    CHECK_EQUAL(told(1)->result, -EXDEV);
    CHECK_EQUAL(told(1)->flags, DETAIL_SYSTEM_CALL_INJECTED);
    CHECK_EQUAL(told(0)->flags | told(2)->flags, 0);
}

static void a_call_may_be_delayed_before_and_behind(void)
{
    struct agent_injection *injection;
    uint64_t start_ns;

    prepare();
    injection = inject(SYS_getppid);
    injection->delay_enter_ns = injection->delay_exit_ns = 10000000;
    begin();
    (void)call(SYS_getppid, 0, 0, 0, 0, 0);
    start_ns = clock_pair_read().monotonic_ns;
    CHECK_EQUAL(call(SYS_getppid, 0, 0, 0, 0, 0), getppid());
    CHECK(clock_pair_read().monotonic_ns - start_ns >= 20000000);
    CHECK_EQUAL(agent_lab_take(), 2);
    CHECK_EQUAL(told(1)->flags, DETAIL_SYSTEM_CALL_DELAYED);
}

/* ---- children ---------------------------------------------------------------------------------------------------- */

/* What a child does in its parent's memory is not the parent's. */
static void calls_of_a_child_with_our_memory_are_the_childs(void)
{
    long child;
    const struct detail_system_call *own;

    prepare();
    want(SYS_getppid);
    want(SYS_vfork);
    begin();
    child = call(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        _exit(0);
    CHECK(child > 0 && waitpid((pid_t)child, NULL, 0) == child);
    hook_thread_current()->is_lending = 1;
    (void)call(SYS_getppid, 0, 0, 0, 0, 0);
    hook_thread_current()->is_lending = 0;
    (void)call(SYS_getppid, 0, 0, 0, 0, 0);
    CHECK_EQUAL(agent_lab_take(), 2);
    own = told(0);
    CHECK(own->flags & DETAIL_SYSTEM_CALL_BY_CHILD);
    CHECK_EQUAL(own->flags >> DETAIL_SYSTEM_CALL_CHILD_SHIFT, gettid());
    CHECK_EQUAL(told(1)->flags, 0);
}

static void a_fork_lends_nothing(void)
{
    long child;

    prepare();
    want(SYS_clone);
    begin();
    child = call(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        _exit(0);
    CHECK(child > 0 && waitpid((pid_t)child, NULL, 0) == child);
    CHECK_EQUAL(hook_thread_current()->is_lending, 0);
    CHECK_EQUAL(agent_lab_take(), 1);
    CHECK_EQUAL(told(0)->result, child);
}

/* ---- code that is mapped ----------------------------------------------------------------------------------------- */

static void map_code(int protection, int flags)
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    CHECK(call(SYS_mmap, 0, 4096, protection, flags, flags & MAP_ANONYMOUS ? -1 : file) > 0);
    close(file);
}

static void code_that_a_starting_program_maps_is_noticed(void)
{
    prepare();
    agent_lab.options.is_whole = 1;
    begin();
    map_code(PROT_READ | PROT_EXEC, MAP_PRIVATE);
    CHECK_EQUAL(mapped_count, 1);
    map_code(PROT_READ, MAP_PRIVATE);
    map_code(PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS);
    CHECK_EQUAL(mapped_count, 1);
    system_call_watch_started();
    map_code(PROT_READ | PROT_EXEC, MAP_PRIVATE);
    CHECK_EQUAL(mapped_count, 1);
    CHECK_EQUAL(agent_lab_take(), 0);
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

static void who_made_a_call_is_told_if_that_is_wanted(void)
{
    struct detail_value value;
    const uint8_t *data;
    uint64_t mark;

    prepare();
    want(SYS_getppid);
    agent_lab.options.system_call_stacks = 1;
    agent_lab.options.stack_frames = 4;
    begin();
    (void)call(SYS_getppid, 0, 0, 0, 0, 0);
    CHECK_EQUAL(agent_lab_take(), 1);
    CHECK(agent_lab_value(&told(0)->record, 0, &value, &data) && value.data_bytes == sizeof(mark));
    memcpy(&mark, data, sizeof(mark));
    CHECK_EQUAL(mark, DETAIL_SYSTEM_CALL_STACK_AT);
    CHECK(agent_lab_value(&told(0)->record, 1, &value, &data));
    CHECK(value.data_bytes >= 8 && value.data_bytes <= 32);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_of_the_set_are_told),
    CHECK_CASE(without_being_asked_for_none_are_told),
    CHECK_CASE(calls_that_may_end_the_program_are_told_before),
    CHECK_CASE(a_call_that_never_returns_is_told),
    CHECK_CASE(a_call_may_be_answered_without_being_made),
    CHECK_CASE(a_call_may_be_delayed_before_and_behind),
    CHECK_CASE(calls_of_a_child_with_our_memory_are_the_childs),
    CHECK_CASE(a_fork_lends_nothing),
    CHECK_CASE(code_that_a_starting_program_maps_is_noticed),
    CHECK_CASE(who_made_a_call_is_told_if_that_is_wanted),
};

CHECK_APART_MAIN(cases)

#else

int main(void)
{
    check_skip("system calls are seen inside of x86-64 programs only so far");
}

#endif
