/* SPDX-License-Identifier: MIT */
/*
 * The rings of processes, emptied: what processes and their threads write comes out here lane by lane, behind the logs
 * that records refer to. A receiver says what becomes of it: a recording writes it into files, a live listing shows it.
 * One thread at a time.
 */
#ifndef GAIT_RECORD_RING_DRAIN_H
#define GAIT_RECORD_RING_DRAIN_H

#include "base/attributes.h"
#include "gait/error.h"
#include "ring/ring_wait.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ring_module;
struct ring_notices;
struct ring_batch;
struct ring_reader;

#define DRAINED_PATH_BYTES_MAX 4096u

/* One lane of a ring, with the thread that has it now. */
struct drained_lane {
    uint32_t generation; /* 0: no thread has had it yet */
    bool is_open;        /* the thread may write more */
    void *owner;         /* the receiver's */
};

struct drained_process {
    pid_t pid;
    pid_t parent;             /* 0: not known */
    int status;               /* as wait gives it; -1: not known */
    struct ring_reader *ring; /* NULL: the process has ended, and all of it was taken */
    struct drained_lane *lanes;
    size_t lane_count;
    uint64_t drained_ns; /* when the ring was looked at last, by the monotonic clock */
    void *owner;         /* the receiver's */
};

/* What is new in a log of a ring, in memory that the process may change: to be copied before it is looked at. */
struct drained_log {
    const uint8_t *bytes;
    size_t size_bytes;
};

/*
 * What becomes of it. The functions of a process return 0 or -errno, which `explain` puts into words; the same records
 * come again then. Pointers are good during the call only. Those marked with * may be NULL.
 */
struct drain_receiver {
    /* * Before all rings are looked at; an error means that none is. And after, also if that went wrong. */
    int (*begin)(void *context, struct gait_error *err);
    int (*end)(void *context, struct gait_error *err);

    /* A process came. On an error it is not taken. */
    int (*process_came)(void *context, struct drained_process *process, struct gait_error *err);
    /* * Its parent or its status is known now. */
    void (*process_changed)(void *context, const struct drained_process *process);
    /* * All that it wrote was taken, all its lanes have ended. Its ring goes when this returns. */
    int (*process_ended)(void *context, struct drained_process *process, struct gait_error *err);

    /* * Files came and went: drained_modules_next. */
    int (*modules)(struct drained_process *process, struct drained_log *log);
    /* * struct ring_block, one after the other. */
    int (*blocks)(struct drained_process *process, const struct drained_log *log);
    /* * A thread has got the lane: the batch is its first one. */
    int (*lane_began)(struct drained_process *process, struct drained_lane *lane, const struct ring_batch *batch);
    /* Whole records of a thread, in their order; none if it is the last batch of the lane. */
    int (*records)(struct drained_process *process, struct drained_lane *lane, const struct ring_batch *batch);
    /* * The thread writes no more; so many bytes were lost behind its last record. */
    int (*lane_ended)(struct drained_process *process, struct drained_lane *lane, uint64_t lost_behind);
    /* * All that was in the ring was taken. */
    int (*drained)(struct drained_process *process);
    int (*explain)(const struct drained_process *process, int result, struct gait_error *err);
};

struct ring_drain {
    const struct drain_receiver *receiver;
    void *context;
    struct drained_process *processes;
    size_t count;
    uint64_t taken_bytes; /* of records, so far */
};

/* Empty. The receiver stays the caller's. */
void ring_drain_init(struct ring_drain *drain, const struct drain_receiver *receiver, void *context);

/* Closes rings that are left; what is in them is dropped. */
void ring_drain_deinit(struct ring_drain *drain);

/*
 * Takes over the ring of a process, which becomes the last one in the list; the descriptor is not kept. The process may
 * have been there before, with another program.
 */
MUST_USE int ring_drain_add(struct ring_drain *drain, pid_t pid, pid_t parent, int ring_fd, struct gait_error *err);

/* Gives the receiver what is new in all rings. One whose ring is broken keeps no other from being emptied. */
MUST_USE int ring_drain_take(struct ring_drain *drain, struct gait_error *err);

/* A process in the list is over: gives the receiver what is left in its ring, and closes that. */
MUST_USE int ring_drain_end_process(struct ring_drain *drain, size_t which, struct gait_error *err);

/* Whose child a process in the list is. */
void ring_drain_set_parent(struct ring_drain *drain, size_t which, pid_t parent);

/* How a process ended; of several programs it was the last one. */
void ring_drain_set_status(struct ring_drain *drain, pid_t pid, int status);

/* What a process in the list asks of us. NULL: its ring is no more. */
struct ring_notices *ring_drain_notices(const struct ring_drain *drain, size_t which);

/* Sleeps until there is much to take, or a notice, or the word changes, or for that long. */
void ring_drain_wait(const struct ring_drain *drain, struct ring_wait_word other, unsigned timeout_ms);

/*
 * Takes the next change out of a log, copied, with the path of its file. 1; 0: there is none; -EPROTO: no agent writes
 * such a log.
 */
MUST_USE int drained_modules_next(struct drained_log *log, struct ring_module *module_out,
                                  char path_out[DRAINED_PATH_BYTES_MAX + 1]);

#endif
