/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "stalker/call_dispatch.h"

#include "stalker/system_call.h"
#include "stalker/thread.h"
#include "support/check.h"
#include "support/stalker_lab.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)

#define SIZE_MAX_MINUS(bytes) ((long)(UINT64_MAX - (bytes)))

static struct stalker_lab lab;
static struct stalker_thread *const thread = &lab.thread;
static uint8_t selector;
static volatile int caught;
static siginfo_t last;

static long set(long mode, long start, long size, const void *byte)
{
    struct system_call call = {.number = SYS_prctl,
                               .arguments = {PR_SET_SYSCALL_USER_DISPATCH, mode, start, size, (long)byte}};

    CHECK(call_dispatch_is_set_by(&call));
    return call_dispatch_set(thread, &call);
}

static bool holds(uint64_t pc)
{
    thread->context.pc = pc;
    return call_dispatch_holds(thread, 39, pc + 2, AUDIT_ARCH_X86_64);
}

static void note(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    caught++;
    last = *info;
}

/* As the gate does when the thread goes on. */
static void let_in(void)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    thread->signals_held = 0;
}

static void begin(void)
{
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};

    stalker_lab_init(&lab, NULL);
    thread->tid = (int)syscall(SYS_gettid);
    sigaction(SIGSYS, &action, NULL);
    caught = 0;
}

static bool is_known_here(void)
{
    long result;

    begin();
    result = set(PR_SYS_DISPATCH_ON, 0, 0, NULL);
    stalker_lab_deinit(&lab);
    return result == 0;
}

static void only_a_call_that_asks_for_it_is_one(void)
{
    struct system_call call = {.number = SYS_prctl, .arguments = {PR_SET_NAME}};

    CHECK(!call_dispatch_is_set_by(&call));
    call = (struct system_call){.number = SYS_seccomp, .arguments = {PR_SET_SYSCALL_USER_DISPATCH}};
    CHECK(!call_dispatch_is_set_by(&call));
}

static void the_byte_decides_which_calls_are_held(void)
{
    begin();
    CHECK_EQUAL(lab.engine->system_calls[SYS_getpid], 0);
    CHECK_EQUAL(set(PR_SYS_DISPATCH_ON, 0, 0, &selector), 0);
    CHECK_EQUAL(lab.engine->system_calls[SYS_getpid], SYSTEM_CALL_DISPATCHED);
    selector = SYSCALL_DISPATCH_FILTER_ALLOW;
    CHECK(!holds(0x1000));
    selector = SYSCALL_DISPATCH_FILTER_BLOCK;
    CHECK(holds(0x1000));
    CHECK_EQUAL(caught, 0);
    let_in();
    CHECK_EQUAL(caught, 1);
    CHECK_EQUAL(last.si_code, 2);
    CHECK_EQUAL(last.si_syscall, 39);
    CHECK_EQUAL(last.si_arch, AUDIT_ARCH_X86_64);
    CHECK_EQUAL((uintptr_t)last.si_call_addr, 0x1002);
    CHECK_EQUAL(set(PR_SYS_DISPATCH_OFF, 0, 0, NULL), 0);
    CHECK(!holds(0x1000));
    /* The kernel was not told: this would be held. */
    CHECK(syscall(SYS_getpid) > 0);
    stalker_lab_deinit(&lab);
}

/* Where they return to is what counts. */
static void calls_in_a_range_pass(void)
{
    begin();
    selector = SYSCALL_DISPATCH_FILTER_BLOCK;
    CHECK_EQUAL(set(PR_SYS_DISPATCH_ON, 0x1000, 0x100, &selector), 0);
    CHECK(!holds(0x1000));
    CHECK(!holds(0x10fc));
    CHECK(holds(0x10fe));
    CHECK(!holds(0xffe));
    CHECK(holds(0xffc));
    CHECK_EQUAL(thread->dispatch.passed, 0xffe);
    let_in();
    stalker_lab_deinit(&lab);
}

static void what_the_kernel_refuses_is_refused(void)
{
    begin();
    CHECK_EQUAL(set(17, 0, 0, NULL), -EINVAL);
    CHECK_EQUAL(set(PR_SYS_DISPATCH_OFF, 0, 1, NULL), -EINVAL);
    CHECK_EQUAL(set(PR_SYS_DISPATCH_ON, -16, 32, NULL), -EINVAL);
    CHECK_EQUAL(set(PR_SYS_DISPATCH_ON, 16, 0, NULL), -EINVAL);
    CHECK_EQUAL(set(PR_SYS_DISPATCH_ON, 0, SIZE_MAX_MINUS(0), NULL), 0);
    CHECK_EQUAL(set(PR_SYS_DISPATCH_ON, 0, 0, (const void *)SIZE_MAX_MINUS(4095)), -EFAULT);
    /* What was set before still holds. */
    CHECK_EQUAL(thread->dispatch.mode, PR_SYS_DISPATCH_ON);
    CHECK_EQUAL(thread->dispatch.size, UINT64_MAX);
    stalker_lab_deinit(&lab);
}

/* Returning from the handler is a call, too. */
static void allow(int signal, siginfo_t *info, void *context)
{
    note(signal, info, context);
    *(volatile uint8_t *)&selector = SYSCALL_DISPATCH_FILTER_ALLOW;
}

static void a_thread_that_leaves_has_it_done_by_the_kernel(void)
{
    struct sigaction action = {.sa_sigaction = allow, .sa_flags = SA_SIGINFO};
    struct call_dispatch dispatch = {.mode = PR_SYS_DISPATCH_ON, .selector = (uintptr_t)&selector};

    selector = SYSCALL_DISPATCH_FILTER_ALLOW;
    sigaction(SIGSYS, &action, NULL);
    CHECK_EQUAL(call_dispatch_leave(&(struct call_dispatch){0}, 0x1000), 0);
    CHECK_EQUAL(call_dispatch_leave(&dispatch, 0x1000), 0);
    caught = 0;
    *(volatile uint8_t *)&selector = SYSCALL_DISPATCH_FILTER_BLOCK;
    (void)syscall(SYS_getppid);
    CHECK_EQUAL(syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0), 0);
    CHECK_EQUAL(caught, 1);
}

static void a_range_that_no_call_was_made_in_is_given_up(void)
{
    static const uint8_t bytes[] = {0x0f, 0x05}, others[] = {0x90, 0x90};
    struct call_dispatch dispatch = {.mode = PR_SYS_DISPATCH_ON, .start = 1, .size = UINT64_MAX - 2};

    CHECK_EQUAL(call_dispatch_leave(&dispatch, 0x1000), 0);
    dispatch.passed = (uintptr_t)others;
    CHECK_EQUAL(call_dispatch_leave(&dispatch, 0x1000), 0);
    dispatch.passed = (uintptr_t)bytes;
    CHECK_EQUAL(call_dispatch_leave(&dispatch, 0x1000), (uintptr_t)bytes);
    CHECK_EQUAL(syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0), 0);
}

/* Where the kernel knows nothing of it there is nothing to be seen. */
static void begin_or_skip(void)
{
    if (!is_known_here())
        check_skip("this kernel dispatches no system calls");
}

static const struct check_case cases[] = {
    CHECK_CASE(begin_or_skip),
    CHECK_CASE(only_a_call_that_asks_for_it_is_one),
    CHECK_CASE(the_byte_decides_which_calls_are_held),
    CHECK_CASE(calls_in_a_range_pass),
    CHECK_CASE(what_the_kernel_refuses_is_refused),
    CHECK_CASE(a_range_that_no_call_was_made_in_is_given_up),
    CHECK_CASE(a_thread_that_leaves_has_it_done_by_the_kernel),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("threads are followed on x86_64 only, so far");
}

#endif
