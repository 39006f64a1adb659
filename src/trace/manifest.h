/* SPDX-License-Identifier: MIT */
/* manifest.json: what a trace is of. Written when the recording begins, and again, in one step, whenever it changes. */
#ifndef GAIT_TRACE_MANIFEST_H
#define GAIT_TRACE_MANIFEST_H

#include "base/attributes.h"
#include "base/clock_pair.h"
#include "base/counters.h"
#include "gait/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct manifest_thread {
    uint32_t tid;
    uint32_t generation;
    char name[16];
    uint64_t lost_bytes;        /* of its index, since it was not read in time, as the next one */
    uint64_t lost_detail_bytes; /* of its details */
    uint64_t unwritten_bytes;   /* of both, that could not be written: the disk was full, or failed */
    uint64_t wait_count;        /* how often it waited for the recorder */
    uint64_t waited_ns;         /* and how long */
    /* While it is recorded: */
    uint32_t serial; /* as in the ring */
    uint32_t lanes;  /* bit n: it has one of kind n */
};

/* What a process could not tell, by reason. */
struct manifest_losses {
    uint64_t late_bytes;       /* of records that were not read in time, of all threads */
    uint64_t no_lane_bytes;    /* of records of threads for which there was no lane */
    uint64_t no_room_count;    /* of blocks and modules for which there was no room in the ring */
    uint64_t no_memory_count;  /* of things that were not watched, since there was no memory in the process */
    uint64_t not_hooked_count; /* of functions that should have been hooked, and cannot be */
};

/* A thread went on without being followed, from there on. */
struct manifest_left {
    uint64_t time; /* the counter */
    uint64_t pc;
    uint32_t tid;
    uint32_t reason; /* enum ring_left_reason; 0: one that this reader does not know */
    uint32_t code_bytes;
    uint8_t code[16]; /* what stands there */
};

/* What an indirect function was resolved to, and what that is called. */
struct manifest_indirect {
    uint64_t address; /* in memory */
    char *name;
};

/* A function that should have been hooked, and is not. */
struct manifest_unhooked {
    char *name; /* "module!function", as the file spells it */
    char *why;
    bool is_named; /* somebody asked for it, not only for all functions of its module */
};

/* A probe of the process that is looked at; its place in the list is the number in records. */
struct manifest_probe {
    uint64_t address;
    char *provider;
    char *name;
    char *arguments; /* as its note has them: "-4@PLACE 8@PLACE" */
    char *path;      /* of the file that it is in */
};

struct manifest_process {
    uint32_t pid;
    uint32_t image;      /* which program of that pid it is: 1, or more after it executed others */
    uint32_t parent_pid; /* 0: the first one */
    char *command;       /* as it was started */
    struct manifest_thread *threads;
    size_t thread_count;
    struct manifest_losses losses;
    struct manifest_left *left; /* the first ones */
    size_t left_listed;
    uint64_t left_count;                /* of all */
    struct manifest_indirect *indirect; /* what is called by other names than its file has */
    size_t indirect_count;
    struct manifest_unhooked *unhooked; /* the first ones of those that the losses count */
    size_t unhooked_listed;
    struct manifest_probe *probes;
    size_t probe_count;
    struct counters_snapshot counters; /* what it counted; in the file by their names, if they are not zero */
    int status;                        /* as wait() gives it; -1: not known */
};

/* Something happened around which records are kept. */
struct manifest_trigger {
    char kind[16]; /* as --trigger calls it: "manual", "time", "every", "crash", "signal", "symbol", "slow" */
    char *text;    /* what was asked for, or a note */
    uint64_t time; /* the counter */
    uint32_t pid;  /* 0: of no process */
    uint32_t tid;  /* 0: of no thread */
};

/* A time of which all records are kept; what came between windows was left out. */
struct manifest_window {
    uint64_t from; /* the counter */
    uint64_t to;
    bool is_cut; /* it was to begin earlier, but there was no memory to keep so much */
};

/* A piece of the recording: the streams of threads begin new files there. */
struct manifest_piece {
    uint32_t number; /* from 1 on */
    uint64_t from;   /* the counter, when it began */
};

struct manifest {
    char *program;
    char *const *arguments; /* of gait, ended by NULL */
    uint32_t events;
    uint32_t with_times;
    int64_t began_unix_ns;
    struct clock_pair *clocks; /* by time: two turn the counter into CLOCK_MONOTONIC, the first is of the beginning */
    size_t clock_count;
    struct manifest_process *processes;
    size_t process_count;
    bool is_flight; /* records of threads are in windows only */
    struct manifest_trigger *triggers;
    size_t trigger_count;
    uint64_t triggers_left_out; /* how many more there were */
    struct manifest_window *windows;
    size_t window_count;
    struct manifest_piece *pieces; /* those that are kept, in their order; none: it is all one */
    size_t piece_count;
    const char *ended; /* "running", "exit", "signal", "detached", "disk full", "interrupted", "target gone" */
};

/* How many pieces were deleted: those before the first that is kept. */
static inline uint32_t manifest_deleted_pieces(const struct manifest *manifest)
{
    return manifest->piece_count == 0 || manifest->pieces[0].number == 0 ? 0 : manifest->pieces[0].number - 1;
}

/* Of all threads of a process, what could not be written. */
static inline uint64_t manifest_unwritten_bytes(const struct manifest_process *process)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < process->thread_count; i++)
        bytes += process->threads[i].unwritten_bytes;
    return bytes;
}

/* Replaces manifest.json in the folder, in one step: whoever reads sees the one before or this one, whole. */
MUST_USE int manifest_write(const struct manifest *manifest, int folder, struct gait_error *err);

/*
 * Reads one; everything in it is the caller's, to be given back with manifest_free. Trusts nothing in the file.
 * -ENOENT: there is none, so the folder is no trace; -EPROTO: something is wrong in it, and err says where.
 */
MUST_USE int manifest_read(int folder, struct manifest *manifest_out, struct gait_error *err);
void manifest_free(struct manifest *manifest);

/* Gives back what the list of functions that are not hooked has. */
void manifest_free_unhooked(struct manifest_process *process);
/* The same of what indirect functions are. */
void manifest_free_indirect(struct manifest_process *process);

/* Gives back what the list of probes of a process has. */
void manifest_free_probes(struct manifest_process *process);

#endif
