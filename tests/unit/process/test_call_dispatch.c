/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "process/call_dispatch.h"

#include "support/check.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)

#define SIZE_MAX_MINUS(bytes) ((long)(UINT64_MAX - (bytes)))

static struct call_dispatch dispatch;
static uint8_t selector;
static volatile int caught;

static long set(long mode, long start, long size, const void *byte)
{
    const long arguments[] = {PR_SET_SYSCALL_USER_DISPATCH, mode, start, size, (long)byte, 0};

    CHECK(call_dispatch_is_set_by(SYS_prctl, arguments));
    return call_dispatch_set(&dispatch, arguments);
}

static bool holds(uint64_t pc)
{
    return call_dispatch_ask(&dispatch, pc, pc + 2) == CALL_IS_HELD;
}

static void note(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    (void)info;
    caught++;
}

static bool is_known_here(void)
{
    return set(PR_SYS_DISPATCH_ON, 0, 0, NULL) == 0;
}

static void only_a_call_that_asks_for_it_is_one(void)
{
    const long name[] = {PR_SET_NAME}, asks[] = {PR_SET_SYSCALL_USER_DISPATCH};

    CHECK(!call_dispatch_is_set_by(SYS_prctl, name));
    CHECK(!call_dispatch_is_set_by(SYS_seccomp, asks));
}

static void the_byte_decides_which_calls_are_held(void)
{
    CHECK_EQUAL(set(PR_SYS_DISPATCH_ON, 0, 0, &selector), 0);
    selector = SYSCALL_DISPATCH_FILTER_ALLOW;
    CHECK(!holds(0x1000));
    selector = SYSCALL_DISPATCH_FILTER_BLOCK;
    CHECK(holds(0x1000));
    selector = 2;
    CHECK_EQUAL(call_dispatch_ask(&dispatch, 0x1000, 0x1002), CALL_ENDS_BY_SYS);
    CHECK_EQUAL(set(PR_SYS_DISPATCH_ON, 0, 0, (const void *)16), 0);
    CHECK_EQUAL(call_dispatch_ask(&dispatch, 0x1000, 0x1002), CALL_ENDS_BY_FAULT);
    CHECK_EQUAL(set(PR_SYS_DISPATCH_OFF, 0, 0, NULL), 0);
    CHECK(!holds(0x1000));
    /* The kernel was not told: this would be held. */
    CHECK(syscall(SYS_getpid) > 0);
}

static void a_signal_says_what_the_kernel_says(void)
{
    siginfo_t info;

    call_dispatch_describe(&info, 39, 0x1002, AUDIT_ARCH_X86_64);
    CHECK_EQUAL(info.si_signo, SIGSYS);
    CHECK_EQUAL(info.si_code, 2);
    CHECK_EQUAL(info.si_syscall, 39);
    CHECK_EQUAL(info.si_arch, AUDIT_ARCH_X86_64);
    CHECK_EQUAL((uintptr_t)info.si_call_addr, 0x1002);
}

static void calls_in_a_range_pass(void)
{
    selector = SYSCALL_DISPATCH_FILTER_BLOCK;
    CHECK_EQUAL(set(PR_SYS_DISPATCH_ON, 0x1000, 0x100, &selector), 0);
    CHECK(!holds(0x1000));
    CHECK(!holds(0x10fc));
    CHECK(holds(0x10fe));
    CHECK(!holds(0xffe));
    CHECK(holds(0xffc));
    CHECK_EQUAL(dispatch.passed, 0xffe);
}

static void what_the_kernel_refuses_is_refused(void)
{
    CHECK_EQUAL(set(17, 0, 0, NULL), -EINVAL);
    CHECK_EQUAL(set(PR_SYS_DISPATCH_OFF, 0, 1, NULL), -EINVAL);
    CHECK_EQUAL(set(PR_SYS_DISPATCH_ON, -16, 32, NULL), -EINVAL);
    CHECK_EQUAL(set(PR_SYS_DISPATCH_ON, 16, 0, NULL), -EINVAL);
    CHECK_EQUAL(set(PR_SYS_DISPATCH_ON, 0, SIZE_MAX_MINUS(0), NULL), 0);
    CHECK_EQUAL(set(PR_SYS_DISPATCH_ON, 0, 0, (const void *)SIZE_MAX_MINUS(4095)), -EFAULT);
    /* What was set before still holds. */
    CHECK_EQUAL(dispatch.mode, PR_SYS_DISPATCH_ON);
    CHECK_EQUAL(dispatch.size, UINT64_MAX);
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
    struct call_dispatch set_to = {.mode = PR_SYS_DISPATCH_ON, .selector = (uintptr_t)&selector};

    selector = SYSCALL_DISPATCH_FILTER_ALLOW;
    sigaction(SIGSYS, &action, NULL);
    CHECK_EQUAL(call_dispatch_leave(&(struct call_dispatch){0}, 0x1000), 0);
    CHECK_EQUAL(call_dispatch_leave(&set_to, 0x1000), 0);
    caught = 0;
    *(volatile uint8_t *)&selector = SYSCALL_DISPATCH_FILTER_BLOCK;
    (void)syscall(SYS_getppid);
    CHECK_EQUAL(syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0), 0);
    CHECK_EQUAL(caught, 1);
}

static void a_range_that_no_call_was_made_in_is_given_up(void)
{
    static const uint8_t bytes[] = {0x0f, 0x05}, others[] = {0x90, 0x90};
    struct call_dispatch set_to = {.mode = PR_SYS_DISPATCH_ON, .start = 1, .size = UINT64_MAX - 2};

    CHECK_EQUAL(call_dispatch_leave(&set_to, 0x1000), 0);
    set_to.passed = (uintptr_t)others;
    CHECK_EQUAL(call_dispatch_leave(&set_to, 0x1000), 0);
    set_to.passed = (uintptr_t)bytes;
    CHECK_EQUAL(call_dispatch_leave(&set_to, 0x1000), (uintptr_t)bytes);
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
    CHECK_CASE(a_signal_says_what_the_kernel_says),
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
