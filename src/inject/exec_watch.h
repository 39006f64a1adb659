/* SPDX-License-Identifier: MIT */
/*
 * A thread that is traced, without being held up, until it executes another program; or until it makes a process that
 * does so (vfork, posix_spawn), which is then the one that is watched. Signals and stops are as without us. What
 * happens is reported by waitpid, to the caller that waits for all.
 */
#ifndef GAIT_INJECT_EXEC_WATCH_H
#define GAIT_INJECT_EXEC_WATCH_H

#include "base/attributes.h"
#include "inject/tracee.h"

#include <stdbool.h>

enum exec_watch_kind {
    EXEC_WATCH_THREAD, /* it executes a program */
    EXEC_WATCH_PARENT, /* it makes a process */
    EXEC_WATCH_CHILD,  /* it was made, and executes a program */
};

struct exec_watch {
    enum exec_watch_kind kind;
    struct tracee tracee;
    bool
        checks_calls; /* it stops at system calls, so that it is untraced when it should be by then: see look_at_call */
    bool is_known;    /* of a child: it was seen how it was made */
};

/* Begins with a thread that waits for us: to execute a program, or to make a process. -ESRCH, -EPERM. */
MUST_USE int exec_watch_begin(struct exec_watch *watch, enum exec_watch_kind kind, pid_t pid, pid_t tid);

/* The same for a process that a watched parent made: the kernel traces it already, as it did the parent. */
void exec_watch_begin_child(struct exec_watch *watch, pid_t pid);

/* What came of it. */
enum exec_watch_outcome {
    EXEC_WATCH_ON,       /* nothing yet */
    EXEC_WATCH_EXECUTED, /* it is stopped at the first instruction of the program, for us to let go */
    EXEC_WATCH_MADE,     /* the parent was let go; *child_out is watched from now on */
    EXEC_WATCH_MADE_ON,  /* the same of a child, which goes on, and is watched as well */
    EXEC_WATCH_LEFT,     /* it was let go, since the program has privileges, or has another kind of code */
    EXEC_WATCH_TAKEN,    /* it was let go, since its parent is about to trace it: a debugger */
    EXEC_WATCH_ENDED,
};

/* Goes on after what waitpid reported of it. */
enum exec_watch_outcome exec_watch_go_on(struct exec_watch *watch, int status, pid_t *child_out);

/* Lets it go, wherever it is. */
void exec_watch_end(struct exec_watch *watch);

#endif
