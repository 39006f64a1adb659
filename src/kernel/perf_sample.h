/* SPDX-License-Identifier: MIT */
/*
 * Taking the records of a perf ring apart. What is in a sample depends on what was asked for. Lengths are checked;
 * nothing is copied. Stateless.
 */
#ifndef GAIT_KERNEL_PERF_SAMPLE_H
#define GAIT_KERNEL_PERF_SAMPLE_H

#include "base/attributes.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What all events have, so that records of any kind can be distinguished and ordered. */
#define PERF_SAMPLE_COMMON (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

/* Of what was not asked for, there is nothing. */
struct perf_sample {
    uint64_t id;
    uint64_t time;
    uint32_t pid;
    uint32_t tid;
    uint64_t ip;
    uint64_t address;
    const uint8_t *raw;
    size_t raw_bytes;
    const uint64_t *registers; /* those of the mask, by number; of the program, or of the kernel */
    size_t register_count;
    const uint8_t *stack; /* of the program, from its stack pointer on */
    size_t stack_bytes;
    const uint64_t *kernel_frames; /* the innermost first */
    size_t kernel_frame_count;
    const uint64_t *user_frames;
    size_t user_frame_count;
};

/* What a sample of an event with PERF_SAMPLE_COMMON begins with: enough to find out whose it is. False: too short. */
MUST_USE bool perf_sample_id(const struct perf_event_header *header, uint64_t *id_out);

/* When a record that is no sample was written. False: it does not say. */
MUST_USE bool perf_record_time(const struct perf_event_header *header, uint64_t *time_out);

/* A sample of an event that was opened like that. False: it is not one. */
MUST_USE bool perf_sample_read(const struct perf_event_header *header, const struct perf_event_attr *attr,
                               struct perf_sample *sample_out);

#endif
