/* SPDX-License-Identifier: MIT */
/*
 * Runs a command, by itself or under something that records it, and says what that took. One at a time. The gait that
 * is measured is the release build in this tree, or what GAIT_BENCH_COMMAND names.
 */
#ifndef GAIT_BENCH_RECORDED_RUN_H
#define GAIT_BENCH_RECORDED_RUN_H

#include <stdbool.h>
#include <stdint.h>

#define RECORDED_ARGUMENTS_MAX 48

struct recorded_plan {
    /* What stands before the command, ended by NULL; "{}" becomes a new folder. An empty one: the command by itself. */
    const char *prefix[RECORDED_ARGUMENTS_MAX / 2];
    const char *command[RECORDED_ARGUMENTS_MAX / 2]; /* ended by NULL */
    const char *input;                               /* a file for its standard input; NULL: none */
    bool has_trace;                                  /* the folder is one of traces of gait */
    bool skip_events;                                /* nobody asks how many there were: counting takes long */
    /* Called with the path of the trace, before it is removed; not 0: it failed. NULL: nobody looks. */
    int (*look)(void *context, const char *trace);
    void *context;
};

struct recorded_result {
    double wall_s;
    double cpu_s;          /* of all processes */
    uint64_t events;       /* in the trace */
    uint64_t lost_bytes;   /* of records */
    uint64_t trace_bytes;  /* on the disk; also of something else than a trace of gait */
    uint64_t memory_bytes; /* of the recorder, with the rings that it shares with the program: the most there was */
};

/* The path of that gait. */
const char *recorded_command(void);

/* The prefix for gait spawn with such options, up to NULL. */
struct recorded_plan recorded_plan_spawn(const char *const *options);

/* 0, or what went wrong was said on stderr. */
int recorded_run(const struct recorded_plan *plan, struct recorded_result *result_out);

/* Whether there is a program of that name. */
bool recorded_has_program(const char *name);

#endif
