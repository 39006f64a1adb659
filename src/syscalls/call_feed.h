/* SPDX-License-Identifier: MIT */
/*
 * The contract for what brings system calls out of the kernel: programs in it, which also bring memory, or its plain
 * tracepoints, which do not. Both give records as programs write them (system_call_program_layout.h), for each thread
 * in its order. Everything that was set up is gone with the process that has it. One thread at a time.
 */
#ifndef GAIT_SYSCALLS_CALL_FEED_H
#define GAIT_SYSCALLS_CALL_FEED_H

#include "gait/error.h"
#include "syscalls/system_call_program_layout.h"
#include "syscalls/system_call_set.h"

#include <stddef.h>

struct call_feed_options {
    const struct system_call_set *set;
    const int *tids; /* the threads to watch, or processes, of which all threads are watched if they are followed */
    size_t tid_count;
    bool follows;          /* new threads and processes as well */
    bool has_descriptors;  /* which files they are is wanted */
    uint32_t string_bytes; /* how much of strings and buffers is wanted */
};

/* A record; its values, if any, are behind it. */
typedef void (*call_feed_hear)(void *context, const struct call_program_record *record);

struct call_feed {
    bool has_memory;
    /* From here on calls are seen. Explains errors; what was begun is to be ended, whatever this says. */
    int (*begin)(const struct call_feed_options *options, void **feed_out, struct gait_error *err);
    void (*end)(void *feed);
    /* Waits that long for something to come, and tells what came. How many records these were. */
    size_t (*drain)(void *feed, int timeout_ms, call_feed_hear hear, void *context);
    /* Whether none of the threads is left. */
    bool (*is_over)(void *feed);
    /* How many records were lost so far. */
    uint64_t (*lost)(void *feed);
};

extern const struct call_feed call_feed_program;
extern const struct call_feed call_feed_tracepoints;

#endif
