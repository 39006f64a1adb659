/* SPDX-License-Identifier: MIT */
/* A recording that others can talk to: its figures, its triggers, its end. One thread, that of the recording. */
#ifndef GAIT_RECORD_RECORDING_CONTROL_H
#define GAIT_RECORD_RECORDING_CONTROL_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

struct control;
struct recording;

struct recording_control {
    struct recording *recording;
    struct control *control; /* NULL: there is no socket */
    uint64_t began_ns;
    bool is_to_end;                                   /* a client has asked for it */
    void (*trigger)(void *context, const char *note); /* NULL: not wanted */
    void *context;
};

/*
 * Begins to listen. The struct must not move until its end; trigger and context are for the caller to set. On failure
 * all the other functions do nothing.
 */
MUST_USE int recording_control_begin(struct recording_control *control, struct recording *recording);

/* Is readable when there is something to serve; -1: there never is. */
int recording_control_fd(const struct recording_control *control);

/* Answers who has asked. Best done before rings are emptied: they are looked at for how full they are. */
void recording_control_serve(struct recording_control *control);

/* The processes go on without us, if result is 0; else the text says why not. The recording must still be there. */
void recording_control_end(struct recording_control *control, int result, const char *text);

#endif
