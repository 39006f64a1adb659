/* SPDX-License-Identifier: MIT */
/*
 * A trace that is open for being shown: its files, its manifest, its processes with what they had mapped, and its
 * threads. What is damaged is shown as far as it is good. Memory grows with modules, blocks and threads, not with
 * events. After opening it does not change: any number of threads may look.
 */
#ifndef GAIT_VIEW_VIEW_TRACE_H
#define GAIT_VIEW_VIEW_TRACE_H

#include "trace/manifest.h"
#include "trace/modules.h"
#include "trace/trace_blocks.h"
#include "trace/trace_files.h"
#include "view/view_clock.h"

struct goroutine_stacks;

struct view_process {
    uint32_t pid;
    uint32_t image;      /* which program of that pid it is, from 1 on */
    uint32_t parent_pid; /* 0: the first one, or not known */
    const char *command; /* "": not known */
    struct modules modules;
    struct trace_blocks blocks;
    struct goroutine_stacks *goroutines; /* NULL: it has none */
};

struct view_thread {
    size_t process; /* index */
    uint32_t tid;
    uint32_t generation; /* of the tid, from 1 on: it may come again */
    const char *name;    /* "": not known */
    const struct trace_file *pieces;
    size_t piece_count; /* 0: there are no events, but details; `pieces` is the file with these */
};

struct view_trace {
    struct trace_files files;
    struct manifest manifest;
    struct view_clock clock;
    struct view_process *processes;
    size_t process_count;
    struct view_thread *threads; /* by process, then tid and generation */
    size_t thread_count;
    size_t silent_count; /* of those behind them, of which there are details only */
};

/* Explains errors: no trace, no manifest, no memory. */
MUST_USE int view_trace_open(struct view_trace *trace, const char *path, struct gait_error *err);
void view_trace_close(struct view_trace *trace);

static inline const struct view_process *view_trace_process_of(const struct view_trace *trace, size_t thread)
{
    return &trace->processes[trace->threads[thread].process];
}

/* Nanoseconds since the recording began. */
static inline uint64_t view_trace_ns(const struct view_trace *trace, uint64_t counter)
{
    return view_clock_ns(&trace->clock, counter);
}

#endif
