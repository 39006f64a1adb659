/* SPDX-License-Identifier: MIT */
/* One process of a recording: its folder, and a stream for each lane of its threads. */
#ifndef GAIT_RECORD_RECORDED_PROCESS_H
#define GAIT_RECORD_RECORDED_PROCESS_H

#include "base/attributes.h"
#include "gait/error.h"
#include "record/agent_triggers.h"
#include "trace/manifest.h"
#include "trace/stream_writer.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct crash_signal;
struct drained_lane;
struct drained_log;
struct drained_process;
struct flight;
struct recorded_stream;
struct ring_batch;
struct ring_reader;

/* How much was written. */
struct recorded_amount {
    uint64_t raw_bytes;    /* of records, as they were in the ring */
    uint64_t record_count; /* of them */
    uint64_t file_bytes;   /* of all streams */
};

struct recorded_process {
    pid_t pid;
    int folder;
    struct chunk_encoder *encoder; /* the recording's */
    struct ring_reader *ring;      /* NULL: the process has ended */
    struct stream_writer blocks;   /* if there are any */
    bool has_blocks;
    struct stream_writer modules;
    struct recorded_stream *streams;   /* of the lanes, and those that ended but have chunks in memory */
    struct flight *flight;             /* the recording's */
    int *fault;                        /* likewise: why nothing can be written any more; 0: it can */
    struct foreign_roots *roots;       /* likewise: where processes look for files; NULL: not wanted */
    struct manifest_process *manifest; /* in the recording's */
    struct recorded_amount written;    /* when it was last settled */
    struct recorded_amount closed;     /* the part of it in streams that are closed */
    struct agent_triggers triggers;
    uint64_t probes_place; /* what was read of the ring's log of probes */
    bool has_new_probes;   /* the manifest's list has grown since the last look */
    uint32_t piece;        /* of the recording, that is written */
    bool has_crash;        /* it was written how it died */
    bool is_ended;
};

/*
 * Makes the folder of that name below `parent`, for a process whose `owner` is to be this. The encoder is needed up to
 * the end, and may be shared. Before the ring is drained, manifest, flight and fault are to be set. -EEXIST, -ENOSPC
 * and others.
 */
MUST_USE int recorded_process_begin(struct recorded_process *process, int parent, const char *name,
                                    const struct drained_process *drained, struct chunk_encoder *encoder);

/*
 * What a struct drain_receiver does with a process of a recording: it writes what comes, or keeps it, as the flight
 * recorder wants. What is written is in files when much has come, when nothing more came the next time, or after some
 * milliseconds. -ENOSPC and others: what was written before is good. The first error is the recording's fault: from
 * then on records are only counted, by thread, as lost.
 */
MUST_USE int recorded_process_modules(struct drained_process *drained, struct drained_log *log);
MUST_USE int recorded_process_blocks(struct drained_process *drained, const struct drained_log *log);
MUST_USE int recorded_process_lane_began(struct drained_process *drained, struct drained_lane *lane,
                                         const struct ring_batch *batch);
MUST_USE int recorded_process_records(struct drained_process *drained, struct drained_lane *lane,
                                      const struct ring_batch *batch);
MUST_USE int recorded_process_lane_ended(struct drained_process *drained, struct drained_lane *lane,
                                         uint64_t lost_behind);
MUST_USE int recorded_process_drained(struct drained_process *drained);
int recorded_process_explain(const struct drained_process *drained, int result, struct gait_error *err);

/* What comes from now on is for another piece: threads get other files. */
MUST_USE int recorded_process_turn(struct recorded_process *process, uint32_t piece, struct gait_error *err);

/* Closes the streams of threads that have ended, once none of their chunks is in memory any more. */
MUST_USE int recorded_process_settle(struct recorded_process *process, struct gait_error *err);

/* Writes what the process said of its death, when it is dead; once. The signal is 0 if it said nothing. */
MUST_USE int recorded_process_note_crash(struct recorded_process *process, struct crash_signal *signal_out,
                                         struct gait_error *err);

/* Bytes of records that could not be written so far. */
uint64_t recorded_process_unwritten(const struct recorded_process *process);

/*
 * Nothing more comes, and its ring goes: closes all streams but those of which chunks are in memory, which may be asked
 * for yet. It still has to be settled, and released.
 */
MUST_USE int recorded_process_end(struct recorded_process *process, struct gait_error *err);

/* Closes what is left. What is in memory is dropped. */
MUST_USE int recorded_process_release(struct recorded_process *process, struct gait_error *err);

#endif
