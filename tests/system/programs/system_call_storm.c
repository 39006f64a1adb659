/* SPDX-License-Identifier: MIT */
/*
 * Makes system calls of which it knows how many: in threads, in signal handlers that interrupt others, in calls that
 * are interrupted, in children. Says at its end "NAME COUNT" for each name that it counted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3
#define CALLS   4000

static atomic_ulong getppids, getuids, interrupted;
static atomic_int is_over;

static void handle(int signal)
{
    int before = errno;

    (void)signal;
    if ((long)syscall(SYS_getuid) != (long)getuid())
        abort();
    getuids += 2;
    errno = before;
}

static void *work(void *unused)
{
    for (unsigned i = 0; i < CALLS; i++) {
        if (syscall(SYS_getppid) <= 0)
            abort();
        getppids++;
    }
    return unused;
}

/* Sleeps that signals end, and reads that they do not. */
static void *wait_often(void *unused)
{
    while (!is_over) {
        struct timespec length = {0, 2000000};

        if (nanosleep(&length, NULL) == -1 && errno == EINTR)
            interrupted++;
    }
    return unused;
}

static sigjmp_buf way_out;

static void jump(int signal)
{
    (void)signal;
    siglongjmp(way_out, 1);
}

/* A handler that leaves a call for good. */
static void jump_out_of_calls(void)
{
    struct sigaction action = {.sa_handler = jump};

    sigaction(SIGVTALRM, &action, NULL);
    for (unsigned i = 0; i < 20; i++) {
        struct itimerspec soon = {.it_value = {0, 1000000}};
        struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGVTALRM};
        timer_t timer;

        event._sigev_un._tid = (int)syscall(SYS_gettid);
        if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
            abort();
        if (sigsetjmp(way_out, 1) == 0) {
            timer_settime(timer, 0, &soon, NULL);
            pause();
        }
        timer_delete(timer);
        if (syscall(SYS_getppid) <= 0)
            abort();
        getppids++;
    }
}

static void make_children(void)
{
    for (unsigned i = 0; i < 3; i++) {
        int status;
        pid_t pid = fork();

        if (pid == 0) {
            (void)syscall(SYS_getpgrp);
            _exit(3);
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3)
            abort();
    }
}

int main(void)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 700}, {0, 700}}, never = {{0, 0}, {0, 0}};
    pthread_t threads[THREADS], waiter;

    sigaction(SIGALRM, &action, NULL);
    action.sa_flags = 0;
    sigaction(SIGUSR1, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    pthread_create(&waiter, NULL, wait_often, NULL);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (unsigned i = 0; i < 50; i++) {
        struct timespec rest = {0, 1000000};

        pthread_kill(waiter, SIGUSR1);
        /* What is left of it: signals come more often than it lasts. */
        while (nanosleep(&rest, &rest) != 0)
            ;
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    is_over = 1;
    pthread_join(waiter, NULL);
    jump_out_of_calls();
    make_children();
    printf("getppid %lu\ngetuid %lu\nEINTR %d\n", getppids, getuids, interrupted != 0);
    return 0;
}
