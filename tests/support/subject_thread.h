/* SPDX-License-Identifier: MIT */
/* A thread for others to look at, and ways to know what it does without sleeping for a while and hoping. */
#ifndef GAIT_TESTS_SUBJECT_THREAD_H
#define GAIT_TESTS_SUBJECT_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct subject_thread {
    pthread_t thread;
    atomic_int tid;
    void (*run)(void *context);
    void *context;
};

/* Starts run(context) in a thread of its own; comes back when it has its tid. Ends the program if it cannot. */
void subject_thread_start(struct subject_thread *subject, void (*run)(void *context), void *context);
void subject_thread_join(struct subject_thread *subject);

/* Comes back when the thread sleeps in the system call, perhaps after the kernel began it again. */
void subject_thread_wait_in(const struct subject_thread *subject, long number);

/* Comes back when the value is at least `least`. */
void subject_thread_wait_count(atomic_long *value, long least);

#endif
