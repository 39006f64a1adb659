/* SPDX-License-Identifier: MIT */
/*
 * What processes may have (ulimit). A program that gait starts has the limits that gait was started with, but gait
 * itself needs more than many programs do.
 */
#ifndef GAIT_INJECT_LIMITS_H
#define GAIT_INJECT_LIMITS_H

#include "gait/error.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Writing beyond the limit of a file's size only fails from now on: no signal ends us. Programs do not inherit that. */
void limits_survive_large_files(void);

/*
 * The same, and raises what this process may have of open files, and how large its files may become, as far as that is
 * allowed. Programs that are started later inherit that.
 */
void limits_raise_own(void);

/* -EMFILE: that would not be enough for us to look at a process. Changes nothing. */
int limits_check_own(struct gait_error *err) __attribute__((warn_unused_result));

/* Whether an error says that a process, this one or another, may not have more of something: files, memory. */
bool limits_is_lack(int result);

/* What a process may open, while more is lent to it. */
struct limits_loan {
    pid_t pid; /* 0: it has enough, or must not have more */
    struct rlimit before;
};

/*
 * Lets another process open a few files more, for what it is made to do for us; ended before it goes on by itself. A
 * limit that it has reached stays as it is where we may not change it.
 */
void limits_loan_begin(struct limits_loan *loan, pid_t pid);
void limits_loan_end(const struct limits_loan *loan);

#endif
