/* SPDX-License-Identifier: MIT */
/* Detail records for the example of trace_folder.h: calls with a number as their argument, and one as their result. */
#ifndef GAIT_TESTS_DETAILED_CALLS_H
#define GAIT_TESTS_DETAILED_CALLS_H

#include "support/trace_folder.h"

struct detailed_call {
    uint64_t function;
    uint64_t caller; /* where it returns to */
    uint64_t time;
    uint16_t depth;
};

void detailed_calls_enter(struct trace_bytes *bytes, const struct detailed_call *call, int32_t argument);
/* It was entered at call->time, and ends at that one. */
void detailed_calls_leave(struct trace_bytes *bytes, const struct detailed_call *call, uint64_t time, int32_t result);
/* The same, but it was left by an exception. */
void detailed_calls_unwind(struct trace_bytes *bytes, const struct detailed_call *call, uint64_t time);

/* The details of thread 100 or 101. If something was lost, calls begin only, and it was lost between any two. */
void detailed_calls_put(const struct trace_folder *folder, uint32_t tid, const struct trace_bytes *bytes,
                        uint64_t lost);

#endif
