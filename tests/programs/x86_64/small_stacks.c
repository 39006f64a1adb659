/* SPDX-License-Identifier: MIT */
/*
 * System calls where there is hardly any stack: 1 KiB above a page that cannot be touched, a thread with the smallest
 * stack that there is, a handler on a signal stack that has room for little more than the kernel's frame, and a child
 * with 512 bytes. The kernel needs none, so all of them work.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE   4096
#define ROUNDS 200

static volatile long sum;

/* Made here, in the program's own code. */
static inline long make_call(long number, long a, long b, long c)
{
    long result;

    __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

/* Memory that ends at what is returned, with a page that cannot be touched so far below it. */
static char *make_stack(size_t size_bytes)
{
    size_t pages = (size_bytes + PAGE - 1) / PAGE * PAGE;
    char *memory = mmap(NULL, PAGE + pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mprotect(memory, PAGE, PROT_NONE);
    return memory + PAGE + size_bytes;
}

static void work(void)
{
    for (int i = 0; i < ROUNDS; i++)
        sum += make_call(SYS_getppid, 0, 0, 0) == getppid();
    sum += make_call(SYS_close, -1, 0, 0) < 0;
}

/* Calls work() with that stack pointer. */
static void run_on(char *top)
{
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %0, %%rsp\n\t"
                     "call *%1\n\t"
                     "movq %%rbx, %%rsp"
                     :
                     : "r"((uintptr_t)top & ~15ul), "r"(work)
                     : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static void *in_thread(void *argument)
{
    work();
    return argument;
}

static void handle(int signal)
{
    (void)signal;
    for (int i = 0; i < 10; i++)
        sum += make_call(SYS_getpid, 0, 0, 0) == getpid();
}

/* With a stack of its own and all else of ours; it must not return. */
static long make_child(char *top)
{
    long result;

    __asm__ volatile("syscall\n\t"
                     "testq %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "movl %2, %%eax\n\t"
                     "syscall\n\t"
                     "movl %2, %%eax\n\t"
                     "syscall\n\t"
                     "movl $7, %%edi\n\t"
                     "movl %3, %%eax\n\t"
                     "syscall\n\t"
                     "hlt\n"
                     "1:"
                     : "=a"(result)
                     : "0"((long)SYS_clone), "i"(SYS_getppid), "i"(SYS_exit), "D"((long)(CLONE_VM | SIGCHLD)), "S"(top),
                       "d"(0L)
                     : "rcx", "r11", "memory");
    return result;
}

static void say(const char *what)
{
    printf("%s: %ld\n", what, sum);
    sum = 0;
}

int main(void)
{
    size_t signal_bytes = getauxval(AT_MINSIGSTKSZ) + 1024;
    stack_t signal_stack = {.ss_size = signal_bytes, .ss_sp = make_stack(signal_bytes) - signal_bytes};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    pthread_attr_t attributes;
    pthread_t thread;
    int status = 0;
    long pid;

    /* Functions of the library are looked for now, while there is room for that. */
    work();
    (void)getpid();
    say("stack");
    run_on(make_stack(1024));
    say("1 KiB");

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN);
    pthread_create(&thread, &attributes, in_thread, NULL);
    pthread_join(thread, NULL);
    say("thread");

    sigaltstack(&signal_stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    say("handler");

    for (int i = 0; i < 20; i++) {
        pid = make_child(make_stack(512));
        sum += waitpid((pid_t)pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7;
    }
    say("child");
    return 0;
}
