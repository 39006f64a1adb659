/* SPDX-License-Identifier: MIT */
/* One process of a recording: its folder, its ring, and a stream for each of its threads. */
#ifndef GAIT_RECORD_RECORDED_PROCESS_H
#define GAIT_RECORD_RECORDED_PROCESS_H

#include "base/attributes.h"
#include "gait/error.h"
#include "record/agent_triggers.h"
#include "record/piece_collector.h"
#include "trace/manifest.h"
#include "trace/stream_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct crash_signal;
struct detail_hearer;
struct flight;
struct recorded_stream;
struct ring_reader;

/* How much was written. */
struct recorded_amount {
    uint64_t raw_bytes;    /* of records, as they were in the ring */
    uint64_t record_count; /* of them */
    uint64_t file_bytes;   /* of all streams */
};

/* What is recorded of one lane of the ring now. */
struct recorded_lane {
    struct recorded_stream *stream;   /* NULL: nothing */
    struct piece_collector collector; /* what is to be written soon */
    bool is_fed;                      /* something came in the drain that is under way */
    uint32_t generation;              /* of the lane */
    size_t thread;                    /* in the manifest's list */
    uint64_t wait_count;              /* of what the lane says, what was noted there */
    uint64_t waited_ns;
};

struct recorded_process {
    pid_t pid;
    int folder;
    struct chunk_encoder *encoder; /* the recording's */
    struct ring_reader *ring;
    struct stream_writer blocks; /* if there are any */
    bool has_blocks;
    struct stream_writer modules;
    struct recorded_lane *lanes;
    size_t lane_count;
    struct recorded_stream *streams;    /* of the lanes, and those that ended but have pieces in memory */
    struct flight *flight;              /* the recording's */
    const struct detail_hearer *hearer; /* the same; NULL: nobody */
    struct manifest_process *manifest;  /* in the recording's */
    int64_t drained_ns;                 /* when the last drain began */
    uint64_t taken_bytes;               /* of records, out of the ring */
    struct recorded_amount written;     /* when it was last settled */
    struct recorded_amount closed;      /* the part of it in streams that are closed */
    struct agent_triggers triggers;
    uint64_t probes_place; /* what was read of the ring's log of probes */
    bool has_new_probes;   /* the manifest's list has grown since somebody last looked */
    uint32_t piece;        /* of the recording, that is written */
    bool has_crash;        /* it was written how it died */
    bool is_ended;
};

/*
 * Makes the folder of that name below `parent`, and opens the ring. The encoder is needed up to the end, and may be
 * shared. Before it is drained, manifest and flight are to be set.
 */
MUST_USE int recorded_process_begin(struct recorded_process *process, int parent, const char *name, pid_t pid,
                                    int ring_fd, struct chunk_encoder *encoder, struct gait_error *err);

/*
 * Takes what is new, and writes it or keeps it, as the flight recorder wants. What is written is in files when much has
 * come, when nothing more came the next time, or after some milliseconds. -ENOSPC and others: what was written before
 * is good.
 */
MUST_USE int recorded_process_drain(struct recorded_process *process, struct gait_error *err);

/* What comes from now on is for another piece: threads get other files. */
MUST_USE int recorded_process_turn(struct recorded_process *process, uint32_t piece, struct gait_error *err);

/* Closes the streams of threads that have ended, once none of their pieces is in memory any more. */
MUST_USE int recorded_process_settle(struct recorded_process *process, struct gait_error *err);

/* Writes what the process said of its death, when it is dead; once. The signal is 0 if it said nothing. */
MUST_USE int recorded_process_note_crash(struct recorded_process *process, struct crash_signal *signal_out,
                                         struct gait_error *err);

/*
 * Nothing more comes: closes the ring, and all streams but those of which pieces are in memory, which may be asked for
 * yet. It still has to be settled, and released.
 */
MUST_USE int recorded_process_end(struct recorded_process *process, struct gait_error *err);

/* Closes what is left. What is in memory is dropped. */
MUST_USE int recorded_process_release(struct recorded_process *process, struct gait_error *err);

#endif
