/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/*
 * What hooks of the C library's functions do, called as a gate calls them, around the functions themselves or instead
 * of them. A child of the test plays the reader that is asked.
 */
#define _GNU_SOURCE
#include "agent/process_hooks.h"

#include "agent/handler_fronts.h"
#include "agent/hook_set.h"
#include "agent/interrupted_place.h"
#include "agent/process_log.h"
#include "hook/hook_thread.h"
#include "ring/ring_notice.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"
#include "support/locking_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

#include <asm/prctl.h>

#define TID 1234

static struct ring_notices *notices;
static const struct process_hook *hook;
static struct gait_cpu_context cpu;
static _Alignas(16) uint8_t data[GAIT_INVOCATION_DATA_BYTES];
static struct gait_invocation invocation = {.cpu = &cpu, .call_data = data, .thread_id = TID};

static void begin(uint32_t children)
{
    agent_lab_begin(0, RING_DROP);
    notices = ring_notices_in(agent_lab.ring->base);
    (void)process_log_begin(agent_lab.ring, children);
    process_hooks_begin();
}

/* The function is entered with these arguments. */
static void enter(const char *name, long a, long b, long c, long d)
{
    const long arguments[] = {a, b, c, d};

    hook = process_hook_find(name, strlen(name));
    CHECK(hook != NULL && hook->enter != NULL);
    memset(data, 0, sizeof(data));
    for (unsigned i = 0; i < 4; i++)
        gait_invocation_argument_set(&invocation, i, (uint64_t)arguments[i]);
    hook->enter(&invocation);
}

static void leave(long result)
{
    gait_invocation_return_value_set(&invocation, (uint64_t)result);
    hook->leave(&invocation);
}

static struct ring_notice *await_notice(uint32_t state)
{
    for (unsigned tries = 0; tries < 20000; tries++) {
        for (unsigned i = 0; i < RING_NOTICE_COUNT; i++)
            if (atomic_load(&notices->notices[i].state) == state)
                return &notices->notices[i];
        usleep(1000);
    }
    printf("no notice is in state %u\n", state);
    _exit(1);
}

/* Answers one question, which should be like this, and lets go when what was announced did not happen. */
static pid_t start_reader(uint32_t kind)
{
    pid_t reader = fork();
    struct ring_notice *notice;

    if (reader != 0)
        return reader;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    notice = await_notice(RING_NOTICE_POSTED);
    CHECK_EQUAL(notice->kind, kind);
    CHECK_EQUAL(notice->tid, TID);
    ring_notice_answer(notice, 0);
    ring_notice_release(await_notice(RING_NOTICE_OVER));
    fflush(stdout);
    _exit(check_failures != 0);
}

static void finish(pid_t child)
{
    int status = -1;

    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

static bool was_anything_asked(void)
{
    for (unsigned i = 0; i < RING_NOTICE_COUNT; i++)
        if (notices->notices[i].kind != 0)
            return true;
    return false;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void only_whole_names_are_known(void)
{
    CHECK(process_hook_find("execve", 6) != NULL);
    CHECK(process_hook_find("execveat", 8) != process_hook_find("execve", 6));
    CHECK(process_hook_find("execveat", 6) == process_hook_find("execve", 6));
    CHECK(process_hook_find("execv", 5) == NULL);
    CHECK(process_hook_find("execvex", 7) == NULL);
    CHECK(process_hook_find("", 0) == NULL);
}

/* Fronts of handlers are hidden by them for as long as there are some. */
static void what_hides_fronts_is_removed_last(void)
{
    CHECK(process_hook_find("sigaction", 9)->is_last);
    CHECK(process_hook_find("syscall", 7)->is_last);
    CHECK(!process_hook_find("execve", 6)->is_last);
    CHECK(!process_hook_find("_Fork", 5)->is_last);
}

/* ---- forks and programs ------------------------------------------------------------------------------------------ */

static void forks_are_announced_and_settled_when_they_fail(void)
{
    begin(AGENT_CHILDREN_ALL);
    enter("_Fork", 0, 0, 0, 0);
    CHECK_EQUAL(notices->forks_begun, 1);
    leave(4711);
    CHECK_EQUAL(notices->forks_settled, 0);
    enter("_Fork", 0, 0, 0, 0);
    leave(-1);
    CHECK_EQUAL(notices->forks_begun, 2);
    CHECK_EQUAL(notices->forks_settled, 1);
}

static void a_program_that_is_not_executed_after_all_is_retracted(void)
{
    static const char *const names[] = {"execve", "execveat", "fexecve"};
    static const long arguments[][4] = {{(long)"/bin/sh", 0, 0, 0}, {AT_FDCWD, (long)"/bin/sh", 0, 0}, {1000, 0, 0, 0}};

    begin(AGENT_CHILDREN_ALL);
    for (unsigned i = 0; i < 3; i++) {
        pid_t reader = start_reader(RING_NOTICE_EXEC);

        enter(names[i], arguments[i][0], arguments[i][1], arguments[i][2], 0);
        leave(-1);
        finish(reader);
    }
}

static void a_spawned_process_is_announced_until_it_is_there(void)
{
    static const char *const names[] = {"posix_spawn", "posix_spawnp"};

    begin(AGENT_CHILDREN_ALL);
    for (unsigned i = 0; i < 2; i++) {
        pid_t reader = start_reader(RING_NOTICE_VFORK);

        enter(names[i], 0, 0, 0, 0);
        leave(0);
        finish(reader);
    }
}

/* It returns twice, on the same stack: what is to be seen of a return would be seen in the child. */
static void the_return_of_vfork_is_not_looked_at(void)
{
    pid_t reader;

    begin(AGENT_CHILDREN_ALL);
    reader = start_reader(RING_NOTICE_VFORK);
    enter("vfork", 0, 0, 0, 0);
    CHECK(hook->leave == NULL);
    ring_notice_change(agent_lab.ring->base, await_notice(RING_NOTICE_ANSWERED), RING_NOTICE_ANSWERED,
                       RING_NOTICE_OVER);
    finish(reader);
}

static void where_there_is_no_program_nobody_is_asked(void)
{
    begin(AGENT_CHILDREN_ALL);
    enter("execve", (long)"/bin/no-such-program", 0, 0, 0);
    leave(-1);
    enter("execve", 16, 0, 0, 0);
    leave(-1);
    enter("execveat", AT_FDCWD, (long)"/proc/self/status", 0, 0);
    leave(-1);
    CHECK(!was_anything_asked());
}

/* What vfork makes runs in our memory until it executes a program; it was announced before. */
static void a_process_with_our_memory_announces_nothing(void)
{
    static const char *const names[] = {"execve", "execveat", "fexecve", "posix_spawn", "vfork"};
    pid_t child;

    begin(AGENT_CHILDREN_ALL);
    child = fork();
    if (child == 0) {
        for (unsigned i = 0; i < 5; i++) {
            enter(names[i], i == 1 ? AT_FDCWD : (long)"/bin/sh", (long)"/bin/sh", 0, 0);
            if (hook->leave != NULL)
                leave(-1);
        }
        _exit(was_anything_asked());
    }
    finish(child);
    CHECK(!was_anything_asked());
}

static void a_forked_child_announces_for_itself(void)
{
    pid_t reader, child;

    begin(AGENT_CHILDREN_ALL);
    reader = start_reader(RING_NOTICE_EXEC);
    child = fork();
    if (child == 0) {
        process_hooks_begin();
        enter("execve", (long)"/bin/sh", 0, 0, 0);
        leave(-1);
        _exit(check_failures != 0);
    }
    finish(child);
    finish(reader);
}

/* Calls that are nested too deeply have none. */
static void without_data_of_the_call_nothing_is_retracted(void)
{
    pid_t reader;

    begin(AGENT_CHILDREN_ALL);
    invocation.call_data = NULL;
    reader = start_reader(RING_NOTICE_EXEC);
    enter("execve", (long)"/bin/sh", 0, 0, 0);
    leave(-1);
    CHECK_EQUAL(atomic_load(&notices->notices[0].state), RING_NOTICE_ANSWERED);
    ring_notice_change(agent_lab.ring->base, &notices->notices[0], RING_NOTICE_ANSWERED, RING_NOTICE_OVER);
    finish(reader);
    enter("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 16, 0);
    leave(-1);
    enter("syscall", SYS_rt_sigaction, SIGUSR1, 0, 0);
    leave(0);
}

/* ---- what a program forbids itself ---------------------------------------------------------------------------------
 */

static struct hook_thread *begin_thread(void)
{
    const struct hook_threads_options threads = {.forked = NULL};
    bool is_forked_out;

    begin(AGENT_CHILDREN_NONE);
    CHECK_EQUAL(hook_threads_begin(&threads), 0);
    return hook_thread_obtain(&is_forked_out);
}

static void a_program_that_forbids_itself_the_counter_is_noticed(void)
{
    const struct hook_thread *thread = begin_thread();

    CHECK(!thread->is_counter_forbidden);
    enter("prctl", PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0);
    CHECK(thread->is_counter_forbidden);
    enter("prctl", PR_SET_TSC, 77, 0, 0);
    CHECK(thread->is_counter_forbidden);
    enter("prctl", PR_SET_NAME, PR_TSC_ENABLE, 0, 0);
    CHECK(thread->is_counter_forbidden);
    enter("prctl", PR_SET_TSC, PR_TSC_ENABLE, 0, 0);
    CHECK(!thread->is_counter_forbidden);
    enter("syscall", SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0);
    CHECK(thread->is_counter_forbidden);
}

static struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
static const struct sock_fprog filter = {1, allow};

static bool is_mapped(uint64_t address)
{
    return msync((void *)(uintptr_t)(address & ~4095ull), 4096, MS_ASYNC) == 0;
}

static void check_filter(unsigned argument)
{
    uint64_t changed = gait_invocation_argument(&invocation, argument);
    const struct sock_fprog *program = (const struct sock_fprog *)(uintptr_t)changed;

    CHECK(program != &filter);
    CHECK(program->len > filter.len);
    CHECK(memcmp(&program->filter[program->len - 1], allow, sizeof(allow)) == 0);
    leave(0);
    CHECK(!is_mapped(changed));
}

static void filters_let_our_own_calls_pass_while_they_are_put_in_place(void)
{
    begin(AGENT_CHILDREN_NONE);
    enter("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&filter, 0);
    check_filter(2);
    enter("syscall", SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&filter);
    check_filter(3);
    enter("syscall", SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&filter);
    check_filter(3);
}

static void a_filter_that_cannot_be_read_is_left_to_the_kernel(void)
{
    begin(AGENT_CHILDREN_NONE);
    enter("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 16, 0);
    CHECK_EQUAL(gait_invocation_argument(&invocation, 2), 16);
    leave(-1);
    enter("prctl", PR_SET_NAME, (long)"name", (long)&filter, 0);
    CHECK_EQUAL(gait_invocation_argument(&invocation, 2), (uintptr_t)&filter);
    leave(0);
}

/* ---- what a program would see ------------------------------------------------------------------------------------ */

static void our_segment_base_is_told_as_none(void)
{
    uint64_t place;

    (void)begin_thread();
    if (!hook_thread_has_base(hook_thread_base_get())) {
        printf("programs may not set segment bases here\n");
        return;
    }
    enter("arch_prctl", ARCH_GET_GS, (long)&place, 0, 0);
    CHECK_EQUAL(syscall(SYS_arch_prctl, ARCH_GET_GS, &place), 0);
    CHECK(place != 0);
    leave(0);
    CHECK_EQUAL(place, 0);
    enter("syscall", SYS_arch_prctl, ARCH_GET_GS, (long)&place, 0);
    CHECK_EQUAL(syscall(SYS_arch_prctl, ARCH_GET_GS, &place), 0);
    leave(0);
    CHECK_EQUAL(place, 0);
    /* The program's own is not ours to hide. */
    enter("arch_prctl", ARCH_GET_GS, (long)&place, 0, 0);
    place = 0x1234;
    leave(0);
    CHECK_EQUAL(place, 0x1234);
    enter("arch_prctl", ARCH_GET_FS, (long)&place, 0, 0);
    place = hook_thread_base_get();
    leave(0);
    CHECK_EQUAL(place, hook_thread_base_get());
    /* Where the kernel refuses, it has written nothing. */
    enter("arch_prctl", ARCH_GET_GS, 16, 0, 0);
    leave(-1);
}

static void on_signal(int number)
{
    (void)number;
}

static uint64_t kernels_handler(void)
{
    uint64_t words[4] = {0};

    CHECK_EQUAL(syscall(SYS_rt_sigaction, SIGUSR1, NULL, words, 8), 0);
    return words[0];
}

/* As a session does, once modules were looked through. */
static void begin_fronts(const char *const *found, unsigned count)
{
    (void)begin_thread();
    signal(SIGUSR1, on_signal);
    hook_set_begin();
    CHECK_EQUAL(hook_set_open(), 0);
    interrupted_place_begin(0, 0);
    handler_fronts_prepare();
    for (unsigned i = 0; i < count; i++)
        process_hook_find(found[i], strlen(found[i]))->found();
    handler_fronts_begin();
}

static void who_asks_for_a_handler_is_told_the_programs_own(void)
{
    static const char *const found[] = {"sigaction"};
    struct sigaction old;
    uint64_t words[4] = {0};

    begin_fronts(found, 1);
    CHECK(kernels_handler() != (uintptr_t)on_signal);
    enter("sigaction", SIGUSR1, 0, (long)&old, 0);
    CHECK_EQUAL(sigaction(SIGUSR1, NULL, &old), 0);
    leave(0);
    CHECK_EQUAL((uintptr_t)old.sa_handler, (uintptr_t)on_signal);
    enter("syscall", SYS_rt_sigaction, SIGUSR1, 0, (long)words);
    CHECK_EQUAL(syscall(SYS_rt_sigaction, SIGUSR1, NULL, words, 8), 0);
    leave(0);
    CHECK_EQUAL(words[0], (uintptr_t)on_signal);
    handler_fronts_leave();
    CHECK_EQUAL(kernels_handler(), (uintptr_t)on_signal);
}

/* Nothing could tell such a program its own handlers. */
static void where_a_runtime_asks_the_kernel_there_are_no_fronts(void)
{
    static const char *const found[] = {"sigaction", "runtime.rt_sigaction"};
    static const char *const other[] = {"runtime.rt_sigaction.abi0", "sigaction"};

    begin_fronts(found, 2);
    CHECK_EQUAL(kernels_handler(), (uintptr_t)on_signal);
    handler_fronts_prepare();
    process_hook_find(other[0], strlen(other[0]))->found();
    process_hook_find(other[1], strlen(other[1]))->found();
    handler_fronts_begin();
    CHECK_EQUAL(kernels_handler(), (uintptr_t)on_signal);
}

/* ---- locking all memory ------------------------------------------------------------------------------------------ */

static void memory_is_locked_without_ours(void)
{
    const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

    begin(AGENT_CHILDREN_NONE);
    (void)setrlimit(RLIMIT_MEMLOCK, &unlimited);
    invocation.error_number = 5;
    enter("mlockall", MCL_CURRENT, 0, 0, 0);
    if (gait_invocation_argument(&invocation, 0) != 0) {
        printf("this user may not lock a whole program\n");
        return;
    }
    /* The function itself asks the kernel for nothing, which is an error. */
    invocation.error_number = EINVAL;
    leave(-1);
    CHECK_EQUAL(gait_invocation_return_value(&invocation), 0);
    CHECK_EQUAL(invocation.error_number, 5);
    CHECK(locked_kib() > 100);
    CHECK(locked_kib() < agent_lab.ring->bytes >> 12);
}

static void what_may_not_be_locked_is_left_to_the_kernel(void)
{
    begin(AGENT_CHILDREN_NONE);
    enter("mlockall", MCL_FUTURE, 0, 0, 0);
    CHECK_EQUAL(gait_invocation_argument(&invocation, 0), MCL_FUTURE);
    leave(-1);
    CHECK_EQUAL((int)gait_invocation_return_value(&invocation), -1);
    enter("mlockall", MCL_CURRENT | 0x1000, 0, 0, 0);
    CHECK_EQUAL(gait_invocation_argument(&invocation, 0), MCL_CURRENT | 0x1000 | MCL_ONFAULT);
    leave(-1);
    CHECK_EQUAL((int)gait_invocation_return_value(&invocation), -1);
    invocation.call_data = NULL;
    enter("mlockall", MCL_CURRENT, 0, 0, 0);
    CHECK_EQUAL(gait_invocation_argument(&invocation, 0), MCL_CURRENT | MCL_ONFAULT);
    leave(-1);
    CHECK_EQUAL((int)gait_invocation_return_value(&invocation), -1);
}

static const struct check_case cases[] = {
    CHECK_CASE(only_whole_names_are_known),
    CHECK_CASE(what_hides_fronts_is_removed_last),
    CHECK_CASE(forks_are_announced_and_settled_when_they_fail),
    CHECK_CASE(a_program_that_is_not_executed_after_all_is_retracted),
    CHECK_CASE(a_spawned_process_is_announced_until_it_is_there),
    CHECK_CASE(the_return_of_vfork_is_not_looked_at),
    CHECK_CASE(where_there_is_no_program_nobody_is_asked),
    CHECK_CASE(a_process_with_our_memory_announces_nothing),
    CHECK_CASE(a_forked_child_announces_for_itself),
    CHECK_CASE(without_data_of_the_call_nothing_is_retracted),
    CHECK_CASE(a_program_that_forbids_itself_the_counter_is_noticed),
    CHECK_CASE(filters_let_our_own_calls_pass_while_they_are_put_in_place),
    CHECK_CASE(a_filter_that_cannot_be_read_is_left_to_the_kernel),
    CHECK_CASE(our_segment_base_is_told_as_none),
    CHECK_CASE(who_asks_for_a_handler_is_told_the_programs_own),
    CHECK_CASE(where_a_runtime_asks_the_kernel_there_are_no_fronts),
    CHECK_CASE(memory_is_locked_without_ours),
    CHECK_CASE(what_may_not_be_locked_is_left_to_the_kernel),
};

CHECK_APART_MAIN(cases)

#else

int main(void)
{
    check_skip("hooks are for x86-64 so far");
}

#endif
