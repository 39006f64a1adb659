/* SPDX-License-Identifier: MIT */
/* The kernel says what a thread is doing, in /proc/self/task/<tid>/syscall: "running", or the number and arguments. */
#include "support/subject_thread.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *enter(void *argument)
{
    struct subject_thread *subject = argument;

    atomic_store(&subject->tid, (int)syscall(SYS_gettid));
    subject->run(subject->context);
    return NULL;
}

void subject_thread_start(struct subject_thread *subject, void (*run)(void *context), void *context)
{
    subject->run = run;
    subject->context = context;
    atomic_init(&subject->tid, 0);
    if (pthread_create(&subject->thread, NULL, enter, subject) != 0) {
        perror("cannot start a thread");
        exit(1);
    }
    while (atomic_load(&subject->tid) == 0)
        sched_yield();
}

void subject_thread_join(struct subject_thread *subject)
{
    pthread_join(subject->thread, NULL);
}

/* -1: in none. */
static long system_call_of(int tid)
{
    char path[64], line[256] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
    file = fopen(path, "r");
    if (file == NULL) {
        printf("skipped: the kernel does not show system calls\n");
        exit(77);
    }
    if (fgets(line, sizeof(line), file) == NULL || strncmp(line, "running", 7) == 0)
        strcpy(line, "-1");
    fclose(file);
    return strtol(line, NULL, 10);
}

void subject_thread_wait_in(const struct subject_thread *subject, long number)
{
    long now;

    do {
        sched_yield();
        now = system_call_of(subject->tid);
    } while (now != number && now != SYS_restart_syscall);
}

void subject_thread_wait_count(atomic_long *value, long least)
{
    while (atomic_load(value) < least)
        sched_yield();
}
