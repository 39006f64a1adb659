/* SPDX-License-Identifier: MIT */
/* Processes that let themselves make hardly any system calls, and one that makes another one all the same. */
#define _GNU_SOURCE
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define THREAD_FLAGS  (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void say(const char *what, long value)
{
    char text[100];
    int length = snprintf(text, sizeof(text), "%s %ld\n", what, value);

    syscall(SYS_write, 1, text, (size_t)length);
}

/* Gives the call a result of its own. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    say("trapped", info->si_syscall);
    say("signal", signal * 1000 + info->si_code * 100 + info->si_errno);
    say("at the call", (greg_t)info->si_call_addr == registers[REG_RIP]);
    say("number", registers[REG_RAX]);
    registers[REG_RAX] = -77;
}

static long busy(void)
{
    volatile long sum = 0;

    for (int i = 0; i < 100000; i++)
        sum += i % 7;
    return sum;
}

/* New code, so that there is something to translate under the filter. */
static long work(void)
{
    static char stack[4096] __attribute__((aligned(16)));
    struct clone_args thread = {.flags = THREAD_FLAGS, .stack = (uintptr_t)stack, .stack_size = sizeof(stack)};
    long got = syscall(SYS_getppid);

    say("getppid", got > 0);
    got = syscall(SYS_mmap, NULL, 4096, 3, 0x22, -1, 0);
    say("mmap", got > 0 ? 1 : got);
    got = syscall(SYS_prctl, PR_GET_DUMPABLE);
    say("prctl", got);
    got = syscall(SYS_fork);
    if (got == 0)
        syscall(SYS_exit_group, 9);
    say("fork", got > 0 ? 1 : got);
    got = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (got == 0)
        syscall(SYS_exit_group, 9);
    say("clone", got > 0 ? 1 : got);
    /* None of them is made: it would come back to a stack without anything on it. */
    got = syscall(SYS_clone, THREAD_FLAGS, stack + sizeof(stack), NULL, NULL, 0);
    say("thread", got > 0 ? 1 : got);
    got = syscall(SYS_clone3, &thread, sizeof(thread));
    say("another thread", got > 0 ? 1 : got);
    say("sum", busy());
    return 5;
}

static void confine(unsigned action, int by_prctl)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_write),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_rt_sigreturn),
        BPF_STMT(BPF_RET | BPF_K, action),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    struct sigaction trap = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

    sigaction(SIGSYS, &trap, NULL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (by_prctl)
        say("confined", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
    else
        say("confined", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

static void strict(void)
{
    say("strict", prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
    say("sum", busy());
    syscall(SYS_getppid);
    say("still here", 1);
}

int main(void)
{
    static const unsigned actions[] = {SECCOMP_RET_ERRNO | 33, SECCOMP_RET_TRAP | 9, SECCOMP_RET_KILL_PROCESS};
    struct sock_fprog nothing = {0, NULL}, nowhere = {1, (struct sock_filter *)16};
    int status;

    say("no filter", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &nothing));
    say("no memory", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &nowhere));
    say("nowhere", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, 16));
    for (int i = 0; i < 7; i++) {
        pid_t child = fork();

        if (child == 0) {
            if (i == 6)
                strict();
            else
                confine(actions[i / 2], i % 2);
            syscall(SYS_exit_group, work());
        }
        waitpid(child, &status, 0);
        say("status", status & ~0x80);
    }
    return 0;
}
