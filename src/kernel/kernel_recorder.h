/* SPDX-License-Identifier: MIT */
/*
 * Writing the kernel's events into a trace: the folder "kernel" of docs/trace_format.md. It is the receiver of a
 * session. What came is in files when it is flushed. One thread at a time.
 */
#ifndef GAIT_KERNEL_KERNEL_RECORDER_H
#define GAIT_KERNEL_KERNEL_RECORDER_H

#include "kernel/chosen_probes.h"
#include "kernel/perf_reader.h"

struct kernel_recorder;

struct kernel_recorder_options {
    int folder; /* of the trace */
    bool compress;
    bool with_modules; /* what processes have mapped whose stacks are taken is written, too: no agent does so */
    const struct chosen_probes *list; /* must outlive it */
    uint32_t switch_source; /* which of its numbers stands for threads beginning and ceasing to run; 0: none */
};

/* Makes the folder and says what there will be in it. Explains errors. */
MUST_USE int kernel_recorder_create(const struct kernel_recorder_options *options,
                                    struct kernel_recorder **recorder_out, struct gait_error *err);

/* What to give to perf_reader_drain. */
struct perf_receiver kernel_recorder_receiver(struct kernel_recorder *recorder);

/* Writes what came. An errno number, negated, if that failed: of now or before. */
MUST_USE int kernel_recorder_flush(struct kernel_recorder *recorder);

/* How many events came so far; how many bytes are in files. */
uint64_t kernel_recorder_events(const struct kernel_recorder *recorder);
uint64_t kernel_recorder_bytes(const struct kernel_recorder *recorder);

/* Writes what is left, how much of each source came and was lost, and gives everything back. */
MUST_USE int kernel_recorder_end(struct kernel_recorder *recorder, const struct perf_session *session);

#endif
