/* SPDX-License-Identifier: MIT */
/*
 * How a process died: its crash.gait, in memory. Nothing in the file is trusted. After reading it does not change.
 */
#ifndef GAIT_TRACE_TRACE_CRASH_H
#define GAIT_TRACE_TRACE_CRASH_H

#include "ring/crash_record.h"
#include "trace/stream_reader.h"

struct trace_crash {
    uint8_t *bytes; /* whole records, one after the other */
    size_t size_bytes;
    size_t count;
    struct stream_end end; /* how the stream ended: what was before is there */
};

/* Explains errors: no such file, no stream, another kind of stream, what is no record in it, no memory. */
MUST_USE int trace_crash_read(struct trace_crash *crash, int folder, const char *path, struct gait_error *err);
void trace_crash_deinit(struct trace_crash *crash);

/* A copy of a record of that kind, and its stack; *place is 0 first. False: there is no other one. */
bool trace_crash_next_signal(const struct trace_crash *crash, size_t *place, struct crash_signal *signal_out,
                             const uint8_t **stack_out);
bool trace_crash_next_thread(const struct trace_crash *crash, size_t *place, struct crash_thread *thread_out,
                             const uint8_t **stack_out);

#endif
