/* SPDX-License-Identifier: MIT */
/* A list: those that run stop often, and come to the front when they do. */
#include "syscalls/ptrace_thread.h"

#include <stdio.h>
#include <stdlib.h>

/* The process of a thread, out of /proc; the thread's own id where that is not to be had. */
static int process_of(int tid)
{
    char path[64], line[128];
    int pid = tid;
    FILE *status;

    snprintf(path, sizeof(path), "/proc/%d/status", tid);
    status = fopen(path, "re");
    if (status == NULL)
        return tid;
    while (fgets(line, sizeof(line), status) != NULL)
        if (sscanf(line, "Tgid: %d", &pid) == 1)
            break;
    fclose(status);
    return pid;
}

struct ptrace_thread *ptrace_threads_find(struct ptrace_threads *threads, int tid)
{
    for (struct ptrace_thread **at = &threads->first; *at != NULL; at = &(*at)->next) {
        struct ptrace_thread *thread = *at;

        if (thread->tid != tid)
            continue;
        *at = thread->next;
        thread->next = threads->first;
        threads->first = thread;
        return thread;
    }
    return NULL;
}

struct ptrace_thread *ptrace_threads_add(struct ptrace_threads *threads, int tid)
{
    struct ptrace_thread *thread = ptrace_threads_find(threads, tid);

    if (thread != NULL)
        return thread;
    thread = calloc(1, sizeof(*thread));
    if (thread == NULL)
        return NULL;
    thread->tid = tid;
    thread->pid = process_of(tid);
    thread->next = threads->first;
    threads->first = thread;
    threads->count++;
    return thread;
}

void ptrace_threads_remove(struct ptrace_threads *threads, struct ptrace_thread *thread)
{
    struct ptrace_thread **at = &threads->first;

    while (*at != thread)
        at = &(*at)->next;
    *at = thread->next;
    threads->count--;
    if (thread->resume_at_ns != 0)
        threads->held_count--;
    free(thread);
}

void ptrace_threads_clear(struct ptrace_threads *threads)
{
    while (threads->first != NULL)
        ptrace_threads_remove(threads, threads->first);
}
