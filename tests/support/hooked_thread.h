/* SPDX-License-Identifier: MIT */
/* Threads of hooked functions in traces for tests. Ends the program if that fails. */
#ifndef GAIT_TESTS_HOOKED_THREAD_H
#define GAIT_TESTS_HOOKED_THREAD_H

#include "support/trace_folder.h"

struct hooked_event {
    uint32_t number; /* of the block where the function begins */
    enum event_record record;
    uint32_t depth;
    uint64_t time;
};

/* Adds a thread with these events to process 100 of the example. */
void hooked_thread_put(const struct trace_folder *folder, uint32_t tid, const struct hooked_event *events,
                       size_t count);

/*
 * The example with thread 102, in which the function of block 1, at 0x401100, was called three times for 2500 ns, and
 * called that of block 2, at 0x401200, for 500 ns each time; the last of these was left by an exception.
 */
void hooked_thread_put_example(const struct trace_folder *folder);

#endif
