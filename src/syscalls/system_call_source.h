/* SPDX-License-Identifier: MIT */
/*
 * The contract for what sees system calls of programs: ptrace, and others that see more cheaply or from elsewhere. A
 * source is a line in system_call_sources.def and a file that defines `const struct system_call_source
 * system_call_source_<name>`.
 */
#ifndef GAIT_SYSCALLS_SYSTEM_CALL_SOURCE_H
#define GAIT_SYSCALLS_SYSTEM_CALL_SOURCE_H

#include "gait/error.h"
#include "syscalls/injection.h"
#include "syscalls/system_call_event.h"

/* Who looks while a program runs. */
enum system_call_daemon {
    SYSTEM_CALL_DAEMON_NONE, /* its parent */
    SYSTEM_CALL_DAEMON_GRANDCHILD,
    SYSTEM_CALL_DAEMON_GROUP, /* the same, with a group of processes of its own */
    SYSTEM_CALL_DAEMON_SESSION,
};

struct system_call_request {
    char *const *program; /* with its arguments, ended by NULL; NULL: processes are attached to */
    const int *pids;
    size_t pid_count;
    bool follows; /* new threads and processes as well */
    const struct system_call_set *set;
    const struct injections *injections;
    bool has_stacks;        /* stacks are shown, by whoever hears */
    uint32_t string_bytes;  /* how much of strings and buffers is shown */
    bool wants_cpu;         /* what the CPU works for each call */
    bool wants_beginnings;  /* of calls, when they begin, where that makes them slower */
    bool wants_descriptors; /* what descriptors are */
    /* Only by a source that stops calls: */
    bool detaches_at_exec;          /* threads that execute another program are left */
    enum system_call_daemon daemon; /* the program is our caller's child, and we are its grandchild */
    unsigned interruptible;         /* strace -I; 0: it was not said */
    const char *user;               /* who runs the program; NULL: who we are */
    const char *const *variables;   /* NAME=VALUE, or NAME: it goes */
    size_t variable_count;
    bool (*picks)(void *context, const struct system_call_event *event); /* of calls that begin; NULL: all */
    /* Is told each event; returns what it can do nothing about. The event is the source's, during the call only. */
    void (*hear)(void *context, const struct system_call_event *event);
    /* Is told in words what is not shown, and why; NULL: nobody wants to know. */
    void (*say)(void *context, const char *text);
    void *context;
};

struct system_call_source {
    const char *name; /* as in --via NAME */
    /*
     * Runs the program, or watches the processes, to their end, or until SIGINT or SIGTERM: then everything goes on as
     * if nobody had looked. status_out: as of wait(), of the program; 0 where processes were attached to.
     */
    int (*run)(const struct system_call_request *request, int *status_out, struct gait_error *err);
};

/* For index 0 on, the one that is used by default first; NULL behind the last. */
const struct system_call_source *system_call_source_at(size_t index);

/* NULL: there is none of that name. */
const struct system_call_source *system_call_source_find(const char *name);

#endif
