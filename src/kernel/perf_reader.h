/* SPDX-License-Identifier: MIT */
/* The rings of a session emptied into a receiver. One thread at a time. */
#ifndef GAIT_KERNEL_PERF_READER_H
#define GAIT_KERNEL_PERF_READER_H

#include "kernel/perf_session.h"
#include "trace/kernel_events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Something was mapped to be executed. */
struct perf_mapping {
    uint32_t pid;
    uint64_t time; /* the counter, as everywhere here */
    uint64_t start;
    uint64_t size_bytes;
    uint64_t file_offset;
    const char *path;
};

/* A thread begins or ceases to run. */
struct perf_switch {
    uint64_t time;
    uint32_t cpu;
    uint32_t pid;
    uint32_t tid;
    bool is_out;
    bool is_preempted; /* it would have gone on */
};

/* What came. Sources are numbered from 1 on, in the order in which they were added. Any of these may be NULL. */
struct perf_receiver {
    void (*event)(void *context, const struct kernel_event *event);
    void (*named)(void *context, uint32_t pid, uint32_t tid, const char *name, uint64_t time, bool by_exec);
    void (*mapped)(void *context, const struct perf_mapping *mapping);
    void (*forked)(void *context, uint32_t pid, uint32_t parent_pid, uint32_t tid, uint64_t time);
    void (*exited)(void *context, uint32_t pid, uint32_t tid, uint64_t time);
    void (*switched)(void *context, const struct perf_switch *change);
    void (*lost)(void *context, uint32_t cpu, uint64_t count, uint64_t time);
    void *context;
};

/*
 * Hands over what is in the rings. With is_last also what came so lately that something earlier may yet follow. How
 * many records these were.
 */
size_t perf_reader_drain(struct perf_session *session, const struct perf_receiver *receiver, bool is_last);

/* Sleeps until a ring is half full, the other descriptor (-1: none) can be read, or for that long. */
void perf_reader_wait(const struct perf_session *session, int other, int timeout_ms);

#endif
