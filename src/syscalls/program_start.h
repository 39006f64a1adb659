/* SPDX-License-Identifier: MIT */
/* A program that is about to be started: a child that waits for a word before it executes it. */
#ifndef GAIT_SYSCALLS_PROGRAM_START_H
#define GAIT_SYSCALLS_PROGRAM_START_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stdbool.h>
#include <stddef.h>

enum program_role {
    PROGRAM_IS_CHILD,             /* of ours */
    PROGRAM_IS_CALLER,            /* it takes the place of this process, and we go on as its grandchild */
    PROGRAM_IS_CALLER_OF_GROUP,   /* the same, with a group of our own */
    PROGRAM_IS_CALLER_OF_SESSION, /* the same, with a session of our own */
};

struct program_setup {
    char *const *program;         /* with its arguments, ended by NULL */
    const char *user;             /* who runs it; NULL: who we are */
    const char *const *variables; /* of its environment: NAME=VALUE, or NAME, which goes */
    size_t variable_count;
    enum program_role place;
};

struct program_start {
    int pid;
    int go_fd;     /* takes a byte to let it go */
    int failed_fd; /* an errno comes through it if the program cannot be executed; its end otherwise */
};

/*
 * Makes the child. The program is looked for in PATH here, so that the child executes it at once. Where it takes our
 * place, this returns in another process.
 */
MUST_USE int program_start_begin(const struct program_setup *setup, struct program_start *start_out,
                                 struct gait_error *err);

/* Lets it go on. */
void program_start_go(struct program_start *start);

/* To be called once the child has executed the program, or ended: an error if it could not. */
MUST_USE int program_start_finish(struct program_start *start, const char *program, struct gait_error *err);

/* Ends the child instead. */
void program_start_abandon(struct program_start *start);

#endif
