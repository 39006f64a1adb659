/* SPDX-License-Identifier: MIT */
/* Threads that have the system calls of some of their code sent to themselves as signals (syscall user dispatch). */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF          0
#define PR_SYS_DISPATCH_ON           1
#endif

enum { ALLOW, BLOCK };

/* Calls that are made in a place of their own, and where handlers may return to. */
long inside(long number, long a, long b, long c, long d, long e);
void inside_restorer(void);
extern const char __start_chosen[], __stop_chosen[];
__asm__(".pushsection chosen, \"ax\", @progbits\n"
        "inside: mov %rdi, %rax; mov %rsi, %rdi; mov %rdx, %rsi; mov %rcx, %rdx; mov %r8, %r10; mov %r9, %r8\n"
        "syscall\n"
        "ret\n"
        "inside_restorer: mov $15, %eax\n"
        "syscall\n"
        "ud2\n" /* the range is one of where calls return to */
        ".popsection\n");

static volatile unsigned char selector;
static volatile int caught, number, code, is_at_call, has_number;
static volatile unsigned architecture;
static int failures;

static void expect(const char *what, long got, long wanted)
{
    if (got == wanted)
        return;
    printf("%s: %ld instead of %ld\n", what, got, wanted);
    failures++;
}

static long set(long mode, const char *from, size_t size, volatile unsigned char *byte)
{
    return prctl(PR_SET_SYSCALL_USER_DISPATCH, mode, from, size, byte) == 0 ? 0 : -errno;
}

static void note(const siginfo_t *info, const greg_t *registers)
{
    caught++;
    number = info->si_syscall;
    code = info->si_code;
    architecture = info->si_arch;
    is_at_call = (greg_t)info->si_call_addr == registers[REG_RIP];
    has_number = registers[REG_RAX] == info->si_syscall;
}

/* Its own calls pass, and its return. */
static void answer(int signal, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    (void)signal;
    selector = ALLOW;
    note(info, registers);
    registers[REG_RAX] = getppid() > 0 ? 4242 : 1;
}

/* It returns by a call from where all may pass, and leaves the byte as it is. */
static void answer_inside(int signal, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    (void)signal;
    note(info, registers);
    registers[REG_RAX] = 4343;
}

static void handle(void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

    sigaction(SIGSYS, &action, NULL);
}

static void by_a_byte(void)
{
    long first, second;

    handle(answer, 0);
    expect("on", set(PR_SYS_DISPATCH_ON, NULL, 0, &selector), 0);
    expect("allowed", getppid() > 0, 1);
    caught = 0;
    selector = BLOCK;
    first = syscall(SYS_getppid);
    second = syscall(SYS_getppid);
    expect("held", first, 4242);
    expect("passed again", second > 0 && second != 4242, 1);
    expect("signals", caught, 1);
    expect("number", number, SYS_getppid);
    expect("code", code, 2);
    expect("architecture", architecture == AUDIT_ARCH_X86_64, 1);
    expect("at the call", is_at_call, 1);
    expect("number in its register", has_number, 1);
    for (int i = 0; i < 200; i++) {
        selector = BLOCK;
        expect("unknown call", syscall(100000 + i), 4242);
    }
    expect("all signals", caught, 201);
    selector = BLOCK;
    __asm__ volatile("int $0x80" : "=a"(first) : "a"(20L) : "memory");
    expect("by interrupt", first, 4242);
    expect("its architecture", architecture == AUDIT_ARCH_I386, 1);
    selector = BLOCK;
    expect("off is held, too", syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0), 4242);
    expect("off", set(PR_SYS_DISPATCH_OFF, NULL, 0, NULL), 0);
    selector = BLOCK;
    expect("free", getppid() > 0, 1);
    selector = ALLOW;
}

static void set_inside(int signal_number, void (*handler)(int, siginfo_t *, void *))
{
    struct {
        void *handler;
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } action = {(void *)handler, SA_SIGINFO | 0x04000000, inside_restorer, 0};

    syscall(SYS_rt_sigaction, signal_number, &action, NULL, 8);
}

static void by_a_range(void)
{
    size_t size = (size_t)(__stop_chosen - __start_chosen);
    long first, second, third;

    set_inside(SIGSYS, answer_inside);
    caught = 0;
    selector = BLOCK;
    expect("range", set(PR_SYS_DISPATCH_ON, __start_chosen, size, &selector), 0);
    first = inside(SYS_getppid, 0, 0, 0, 0, 0);
    second = syscall(SYS_getppid);
    third = inside(SYS_getppid, 0, 0, 0, 0, 0);
    inside(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0);
    expect("inside", first > 0 && first != 4343, 1);
    expect("outside", second, 4343);
    expect("inside again", third, first);
    expect("signals of a range", caught, 1);
    expect("at the call outside", is_at_call, 1);

    expect("range without a byte", set(PR_SYS_DISPATCH_ON, __start_chosen, size, NULL), 0);
    first = syscall(SYS_getppid);
    second = inside(SYS_getppid, 0, 0, 0, 0, 0);
    inside(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0);
    expect("outside, without a byte", first, 4343);
    expect("inside, without a byte", second > 0 && second != 4343, 1);
    selector = ALLOW;
}

/* None of this is inherited. */
static void *begin(void *unused)
{
    long got = syscall(SYS_getppid);

    (void)unused;
    return (void *)(uintptr_t)(got > 0 && got != 4242);
}

static void by_its_thread_alone(void)
{
    static volatile unsigned char own;
    pthread_t thread;
    void *result = NULL;
    int status = 0;
    pid_t child;

    handle(answer, 0);
    expect("on for one", set(PR_SYS_DISPATCH_ON, NULL, 0, &own), 0);
    pthread_create(&thread, NULL, begin, NULL);
    pthread_join(thread, &result);
    expect("another thread", (long)result, 1);
    child = fork();
    if (child == 0) {
        own = BLOCK;
        _exit(syscall(SYS_getppid) > 0 ? 9 : 1);
    }
    waitpid(child, &status, 0);
    expect("child", WEXITSTATUS(status), 9);
    expect("off for one", set(PR_SYS_DISPATCH_OFF, NULL, 0, NULL), 0);
}

/* How a child ends that does this, as a shell says it. */
static int ending(void (*act)(void))
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        selector = ALLOW;
        act();
        _exit(3);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void have_wrong_byte(void)
{
    set(PR_SYS_DISPATCH_ON, NULL, 0, &selector);
    selector = 7;
    syscall(SYS_getppid);
}

static void have_no_byte(void)
{
    set(PR_SYS_DISPATCH_ON, NULL, 0, (unsigned char *)16);
    syscall(SYS_getppid);
}

static void block_signal(void)
{
    sigset_t mask;

    sigemptyset(&mask);
    sigaddset(&mask, SIGSYS);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    set(PR_SYS_DISPATCH_ON, NULL, 0, &selector);
    selector = BLOCK;
    syscall(SYS_getppid);
}

static void ignore_signal(void)
{
    signal(SIGSYS, SIG_IGN);
    set(PR_SYS_DISPATCH_ON, NULL, 0, &selector);
    selector = BLOCK;
    syscall(SYS_getppid);
}

static void have_no_handler(void)
{
    signal(SIGSYS, SIG_DFL);
    set(PR_SYS_DISPATCH_ON, NULL, 0, &selector);
    selector = BLOCK;
    syscall(SYS_getppid);
}

/* A filter is asked only what is not dispatched. */
static void filter_too(void)
{
    static struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 77),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    long held, filtered;

    set_inside(SIGSYS, answer_inside);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    set(PR_SYS_DISPATCH_ON, __start_chosen, (size_t)(__stop_chosen - __start_chosen), &selector);
    selector = BLOCK;
    held = syscall(SYS_getppid);
    selector = ALLOW;
    filtered = syscall(SYS_getppid) == -1 ? errno : 0;
    _exit(held == 4343 && filtered == 77 ? 5 : 6);
}

static void what_is_wrong(void)
{
    expect("unknown mode", set(9, NULL, 0, NULL), -EINVAL);
    expect("off with a range", set(PR_SYS_DISPATCH_OFF, (char *)16, 16, NULL), -EINVAL);
    expect("around the end", set(PR_SYS_DISPATCH_ON, (char *)-16, 32, NULL), -EINVAL);
    expect("a byte of the kernel's", set(PR_SYS_DISPATCH_ON, NULL, 0, (unsigned char *)-4096), -EFAULT);
    expect("a wrong byte", ending(have_wrong_byte), 128 + SIGSYS);
    expect("no byte", ending(have_no_byte), 128 + SIGSEGV);
    expect("blocked", ending(block_signal), 128 + SIGSYS);
    expect("ignored", ending(ignore_signal), 128 + SIGSYS);
    expect("no handler", ending(have_no_handler), 128 + SIGSYS);
    expect("a filter, too", ending(filter_too), 5);
}

int main(void)
{
    if (set(PR_SYS_DISPATCH_ON, NULL, 0, &selector) == -EINVAL) {
        puts("calls cannot be dispatched here");
        return 0;
    }
    set(PR_SYS_DISPATCH_OFF, NULL, 0, NULL);
    by_a_byte();
    by_a_range();
    by_its_thread_alone();
    what_is_wrong();
    printf("%d failures\n", failures);
    return failures != 0;
}
