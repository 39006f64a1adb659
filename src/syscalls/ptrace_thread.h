/* SPDX-License-Identifier: MIT */
/* The threads that are traced by ptrace, each with where it is in its system call. Owned by one thread of ours. */
#ifndef GAIT_SYSCALLS_PTRACE_THREAD_H
#define GAIT_SYSCALLS_PTRACE_THREAD_H

#include "syscalls/injection.h"

struct ptrace_thread {
    struct ptrace_thread *next;
    int tid;
    int pid;
    bool is_hidden;  /* what it does before it executes the program is ours */
    bool in_call;    /* between the stops of one */
    bool was_told;   /* the call is in the set */
    bool is_poked;   /* an injection has changed what the call's arguments point at */
    bool is_stopped; /* in the kernel's eyes, and ours to let go */
    uint64_t number;
    uint64_t arguments[SYSTEM_CALL_ARGUMENTS_MAX];
    uint64_t entered_ns;
    uint64_t entered_cpu_ns; /* what the CPU had worked in the kernel for its process, then */
    uint64_t cpu_ns;         /* and when it stopped last */
    uint64_t sp;
    const struct injection *injected; /* what happens to this call */
    uint32_t counts[INJECTIONS_MAX];  /* calls that were in each injection's set */
    uint64_t resume_at_ns;            /* 0: it is not held back */
    int resume_signal;
};

struct ptrace_threads {
    struct ptrace_thread *first;
    size_t count;
    size_t held_count; /* threads with resume_at_ns */
};

/* NULL: it is not there. */
struct ptrace_thread *ptrace_threads_find(struct ptrace_threads *threads, int tid);

/* Finds or adds it. NULL: there is no memory. */
struct ptrace_thread *ptrace_threads_add(struct ptrace_threads *threads, int tid);

void ptrace_threads_remove(struct ptrace_threads *threads, struct ptrace_thread *thread);
void ptrace_threads_clear(struct ptrace_threads *threads);

#endif
