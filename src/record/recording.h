/* SPDX-License-Identifier: MIT */
/*
 * A recording: the folder of a trace, and the processes whose rings are emptied into it. One thread at a time. What was
 * drained is in files when recording_drain returns; a full disk ends the recording, with what it has.
 */
#ifndef GAIT_RECORD_RECORDING_H
#define GAIT_RECORD_RECORDING_H

#include "base/attributes.h"
#include "gait/error.h"
#include "record/flight.h"
#include "record/trigger_schedule.h"
#include "trace/manifest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct chunk_encoder;
struct recorded_process;

struct recording_options {
    const char *output;     /* the folder in which the trace's own is made; made if it is not there */
    const char *program;    /* what the trace is called after */
    char *const *arguments; /* the command line, ended by NULL */
    uint32_t events;
    bool with_times;
    bool compress;
    struct flight_options flight;        /* all zero: everything is written */
    const struct trigger_spec *triggers; /* must outlive the recording */
    size_t trigger_count;
};

struct recording {
    char *path; /* of the trace */
    int folder;
    struct recording_options options;
    struct manifest manifest;
    struct chunk_encoder *encoder; /* of all streams */
    struct recorded_process *processes;
    size_t process_count;
    uint64_t event_bytes; /* that were written so far */
    struct flight flight; /* so a recording may not be moved */
    struct trigger_schedule schedule;
};

/* Makes the folder. */
MUST_USE int recording_create(const struct recording_options *options, struct recording *recording_out,
                              struct gait_error *err);

/* Takes over the ring of a process; the descriptor is not kept. */
MUST_USE int recording_add_process(struct recording *recording, pid_t pid, pid_t parent, int ring_fd,
                                   struct gait_error *err);

/* Writes, or keeps, what is new in all rings; and looks at triggers. */
MUST_USE int recording_drain(struct recording *recording, struct gait_error *err);

/* Sleeps until there is much to drain, or for that long. */
void recording_wait(struct recording *recording, unsigned timeout_ms);

/* Something happened: what is around it is written. */
MUST_USE int recording_trigger(struct recording *recording, const struct flight_event *event, struct gait_error *err);

/* A process has ended with that status, and its ring was drained. What is in memory is written if it was a signal. */
MUST_USE int recording_process_ended(struct recording *recording, pid_t pid, int status, struct gait_error *err);

/* Bytes of records that were lost so far. */
uint64_t recording_lost(const struct recording *recording);

/* Gives back a recording to which no process came, and removes its folder. */
void recording_discard(struct recording *recording);

/* Closes all files, says in the manifest how it ended, and gives everything back but the path. */
MUST_USE int recording_end(struct recording *recording, const char *how, struct gait_error *err);

#endif
