/* SPDX-License-Identifier: MIT */
/* One process of a recording: its folder, its ring, and a stream for each of its threads. */
#ifndef GAIT_RECORD_RECORDED_PROCESS_H
#define GAIT_RECORD_RECORDED_PROCESS_H

#include "base/attributes.h"
#include "gait/error.h"
#include "trace/manifest.h"
#include "trace/stream_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ring_reader;

/* What is written of one lane of the ring now. */
struct recorded_lane {
    struct stream_writer stream;
    bool is_open;
    uint32_t generation; /* of the lane */
    size_t thread;       /* in the manifest's list */
};

struct recorded_process {
    pid_t pid;
    int folder;
    struct chunk_encoder *encoder; /* the recording's */
    struct ring_reader *ring;
    struct stream_writer blocks;
    struct stream_writer modules;
    struct recorded_lane *lanes;
    size_t lane_count;
    struct manifest_process *manifest; /* in the recording's */
    uint64_t written_bytes;
    bool is_ended;
};

/*
 * Makes the folder of that name below `parent`, and opens the ring. The encoder is needed up to the end, and may be
 * shared.
 */
MUST_USE int recorded_process_begin(struct recorded_process *process, int parent, const char *name, pid_t pid,
                                    int ring_fd, struct chunk_encoder *encoder, struct gait_error *err);

/* Writes what is new. -ENOSPC and others: what was written before is good. */
MUST_USE int recorded_process_drain(struct recorded_process *process, struct gait_error *err);

/* Closes all streams. */
MUST_USE int recorded_process_end(struct recorded_process *process, struct gait_error *err);

#endif
