/* SPDX-License-Identifier: MIT */
/*
 * The side of a running recording that others talk to: gait stats, trigger and detach. A descriptor that can be waited
 * for, and a function that answers the clients that are there, without ever waiting for one. Only the same user and
 * root are answered. One thread at a time.
 */
#ifndef GAIT_RECORD_CONTROL_H
#define GAIT_RECORD_CONTROL_H

#include "base/attributes.h"
#include "record/control_layout.h"

#include <stdbool.h>
#include <sys/types.h>

struct control;

/* What requests do. Called by control_serve. */
struct control_handlers {
    void *context;
    bool (*has_process)(void *context, pid_t pid); /* this recording's */
    void (*read_stats)(void *context, struct control_stats *stats_out);
    const char *path; /* of the trace; not owned */
    void (*trigger)(void *context, const char *note);
    void (*detach)(void *context); /* ends the recording, later: control_close says when that was done */
};

/* Begins to listen. The caller owns it. -ENOMEM, and what socket and bind give. */
MUST_USE int control_open(const struct control_handlers *handlers, struct control **control_out);

/* Is readable when there is something to serve. */
int control_fd(const struct control *control);

/* Answers all who have asked. */
void control_serve(struct control *control);

/*
 * Ends it, and answers clients that wait for the end of the recording: result 0, or a negated errno number and a text
 * for people. NULL is fine.
 */
void control_close(struct control *control, int result, const char *text);

#endif
