/* SPDX-License-Identifier: MIT */
/*
 * What threads of recorded processes are called here. Their records have the numbers that they know themselves by,
 * which are others where a process is in a PID namespace of its own, as in a container.
 */
#ifndef GAIT_RECORD_THREAD_NUMBERS_H
#define GAIT_RECORD_THREAD_NUMBERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct thread_number {
    pid_t pid;
    uint32_t inner;
    uint32_t outer;
};

/* All zero at first. */
struct thread_numbers {
    struct thread_number
        *numbers; /* the first thread of each process that is elsewhere, and others when they are seen */
    size_t count;
};

/* While the process is there. Without memory, its threads have the numbers that they know themselves. */
void thread_numbers_add_process(struct thread_numbers *numbers, pid_t pid);

/* Here, by what it is called there; the same if it is gone before it was ever asked for. */
uint32_t thread_numbers_outer(struct thread_numbers *numbers, pid_t pid, uint32_t inner);

void thread_numbers_deinit(struct thread_numbers *numbers);

#endif
