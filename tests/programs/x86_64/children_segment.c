/* SPDX-License-Identifier: MIT */
/* Threads and processes begin with the gs base of who made them, which is the program's. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char child_stack[65536] __attribute__((aligned(16)));

static unsigned long base_now(void)
{
    unsigned long base = 1;

    return syscall(SYS_arch_prctl, ARCH_GET_GS, &base) == 0 ? base : ~0ul;
}

static void *thread_base(void *base_out)
{
    *(unsigned long *)base_out = base_now();
    return NULL;
}

static int child_base(void *base_out)
{
    thread_base(base_out);
    _exit(base_now() == 0 ? 0 : 3);
}

static void look(void)
{
    unsigned long in_thread = 1, in_child = 1, here = base_now();
    int status = 0;
    pthread_t thread;
    pid_t child;

    pthread_create(&thread, NULL, thread_base, &in_thread);
    pthread_join(thread, NULL);
    child = clone(child_base, child_stack + sizeof(child_stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &in_child);
    waitpid(child, &status, 0);
    printf("%lx here, %lx in a thread, %lx beside, status %d\n", here, in_thread, in_child, WEXITSTATUS(status));
    child = clone(child_base, child_stack + sizeof(child_stack), SIGCHLD, &in_child);
    waitpid(child, &status, 0);
    printf("status %d with a stack of its own\n", WEXITSTATUS(status));
    child = fork();
    if (child == 0)
        _exit(base_now() == here ? 4 : 5);
    waitpid(child, &status, 0);
    printf("status %d\n", WEXITSTATUS(status));
}

int main(void)
{
    look();
    syscall(SYS_arch_prctl, ARCH_SET_GS, 0x12345000ul);
    look();
    syscall(SYS_arch_prctl, ARCH_SET_GS, 0x23456000ul);
    look();
    return 0;
}
