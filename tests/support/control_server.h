/* SPDX-License-Identifier: MIT */
/* A process that listens as a recording does, and claims to record the process with a number of its choice. */
#ifndef GAIT_TESTS_CONTROL_SERVER_H
#define GAIT_TESTS_CONTROL_SERVER_H

#include "record/control_layout.h"

#include <stdbool.h>
#include <sys/types.h>

/* What it has heard; shared with it. */
struct control_server {
    pid_t pid;      /* its own */
    pid_t recorded; /* the process that it claims to record: one that exists */
    int end_result; /* what it says when it ends */
    unsigned triggers;
    unsigned asked_count; /* how often it was asked for figures */
    char note[CONTROL_NOTE_BYTES + 1];
    bool is_detached;
};

/* Starts it; it listens when this returns. Ends the program if that is not possible. */
struct control_server *control_server_start(pid_t recorded, int end_result);

/* Ends it, if a request did not. */
void control_server_stop(struct control_server *server);

#endif
