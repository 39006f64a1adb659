/* SPDX-License-Identifier: MIT */
/*
 * A recording: the folder of a trace, and the processes whose rings are emptied into it: by ring_drain.h, whose
 * receiver it is. One thread at a time. What came is in files ten milliseconds later, if it is drained at the pace of
 * drain_pace.h. A full disk ends the recording, with what it has: what comes after is counted, by thread.
 */
#ifndef GAIT_RECORD_RECORDING_H
#define GAIT_RECORD_RECORDING_H

#include "base/attributes.h"
#include "gait/error.h"
#include "record/disk_sync.h"
#include "record/flight.h"
#include "record/recorded_process.h"
#include "record/ring_drain.h"
#include "record/rotation.h"
#include "record/trigger_schedule.h"
#include "ring/unhooked_log.h"
#include "trace/manifest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct chunk_encoder;

struct recording_options {
    const char *output;     /* the folder in which the trace's own is made; made if it is not there */
    const char *program;    /* what the trace is called after */
    char *const *arguments; /* the command line, ended by NULL */
    uint32_t events;
    bool with_times;
    bool compress;
    unsigned manifest_delay_ms;       /* from the beginning: a program that ends before has its manifest written once */
    struct rotation_options rotation; /* all zero: it is all one piece */
    struct disk_sync_options sync;    /* all zero: the system decides when it is on the disk */
    struct flight_options flight;     /* all zero: everything is written */
    const struct trigger_spec *triggers; /* must outlive the recording */
    size_t trigger_count;
    struct foreign_roots *roots; /* gets those of the processes; must outlive the recording; NULL: not wanted */
};

/* A thread of which something could not be written, since the disk was full, or failed. */
struct recording_unwritten {
    uint32_t tid;
    char name[16];
    uint64_t bytes; /* of records */
};

#define RECORDING_UNWRITTEN_MAX 4

/* A function that somebody asked for by its name, and that is not hooked. */
struct recording_unhooked {
    char name[RING_UNHOOKED_NAME_BYTES]; /* "module!function", as the file spells it */
    char why[RING_UNHOOKED_WHY_BYTES];
};

#define RECORDING_UNHOOKED_MAX 4

struct recording {
    char *path; /* of the trace */
    int folder;
    int spare_room; /* spare_room.h */
    int fault;      /* why nothing can be written any more; 0: it can */
    struct recording_options options;
    struct manifest manifest;
    struct chunk_encoder *encoder;      /* of all streams */
    struct ring_drain drain;            /* of the processes, */
    struct recorded_process *processes; /* in the same order */
    size_t process_count;
    struct recorded_amount written; /* so far; also after the end */
    uint64_t lost_bytes;            /* after the end: recording_lost */
    uint64_t unwritten_bytes;       /* the part of it that could not be written, */
    size_t unwritten_count;         /* of so many threads, of which these lost most: */
    struct recording_unwritten unwritten[RECORDING_UNWRITTEN_MAX];
    size_t unhooked_count; /* after the end, of functions asked for that are not hooked: these, */
    struct recording_unhooked unhooked[RECORDING_UNHOOKED_MAX];
    bool has_more_unhooked;    /* and others */
    uint64_t ended_lost;       /* what was lost of processes that have ended */
    uint64_t ended_matched;    /* the patterns that something in them matched */
    uint64_t ended_armed;      /* those of them by which something was watched */
    uint64_t ended_unresolved; /* those that meant functions whose address was not known */
    bool has_crash;            /* it was written of a process how it died */
    bool is_changed;           /* what the manifest says is not yet in its file */
    uint64_t began_ms;
    uint64_t written_ms;  /* when the manifest was written last; 0: never */
    struct flight flight; /* so a recording may not be moved */
    struct trigger_schedule schedule;
    struct rotation rotation;
    struct disk_sync *sync;
};

/*
 * Makes the folder. Processes come by ring_drain_add(&recording->drain); what is new in their rings is written, or
 * kept, by ring_drain_take, which looks at triggers as well; ring_drain_end_process closes the files of one, and writes
 * all that is in memory if a signal ended it.
 */
MUST_USE int recording_create(const struct recording_options *options, struct recording *recording_out,
                              struct gait_error *err);

/* Something happened: what is around it is written. */
MUST_USE int recording_trigger(struct recording *recording, const struct flight_event *event, struct gait_error *err);

/* How large the trace is now, without the manifest: what was written less what was deleted. */
uint64_t recording_file_bytes(const struct recording *recording);

/* How often, and how long, threads waited for us so far. */
struct recording_waits {
    uint64_t count;
    uint64_t nanoseconds;
};

struct recording_waits recording_waited(const struct recording *recording);

/* What all processes counted, as far as it was read; a sum that is too large is the largest number. */
void recording_counters(const struct recording *recording, struct counters_snapshot *sum_out);

/* Bytes of records that were lost so far; not after the end. */
uint64_t recording_lost(const struct recording *recording);

/* How often a thread went on without being followed. */
uint64_t recording_left(const struct recording *recording);

/* The agent's patterns that something in some process has matched: a bit for each. */
uint64_t recording_matched(const struct recording *recording);

/* Those of them by which something is watched, and not only known. */
uint64_t recording_armed(const struct recording *recording);

/* Those that mean functions whose address was not known when they were looked for; some may have been found since. */
uint64_t recording_unresolved(const struct recording *recording);

/* Gives back a recording to which no process came, and removes its folder. */
void recording_discard(struct recording *recording);

/* Closes all files, says in the manifest how it ended, and gives everything back but the path. */
MUST_USE int recording_end(struct recording *recording, const char *how, struct gait_error *err);

#endif
