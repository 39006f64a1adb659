/* SPDX-License-Identifier: MIT */
/* A program that is about to be started: a child that waits for a word before it executes it. */
#ifndef GAIT_SYSCALLS_PROGRAM_START_H
#define GAIT_SYSCALLS_PROGRAM_START_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stdbool.h>

struct program_start {
    int pid;
    int go_fd;     /* takes a byte to let it go */
    int failed_fd; /* an errno comes through it if the program cannot be executed; its end otherwise */
};

/* Makes the child. The program is looked for in PATH here, so that the child executes it at once. */
MUST_USE int program_start_begin(char *const *program, struct program_start *start_out, struct gait_error *err);

/* Lets it go on. */
void program_start_go(struct program_start *start);

/* To be called once the child has executed the program, or ended: an error if it could not. */
MUST_USE int program_start_finish(struct program_start *start, const char *program, struct gait_error *err);

/* Ends the child instead. */
void program_start_abandon(struct program_start *start);

#endif
