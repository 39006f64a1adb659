/* SPDX-License-Identifier: MIT */
/*
 * Watching: probes opened as perf events, on all CPUs, of all processes or of one and those that it makes; one ring for
 * each CPU, emptied into a receiver. Everything that was set up is a descriptor, and so gone with the process that has
 * it. One thread at a time.
 */
#ifndef GAIT_SOURCE_PERF_SESSION_H
#define GAIT_SOURCE_PERF_SESSION_H

#include "base/hash_map.h"
#include "source/perf_clock.h"
#include "source/perf_ring.h"
#include "source/source.h"
#include "trace/kernel_events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PERF_SESSION_RING_BYTES (8u << 20) /* of each CPU, if nobody says something else */
#define PERF_SESSION_FOUND      256u       /* a power of two */

struct perf_session_options {
    pid_t pid;           /* 0: all processes */
    bool starts_on_exec; /* of a process that is about to execute a program: not before */
    bool with_stacks;    /* of the kernel and of the program */
    bool with_switches;  /* tells when threads begin and cease to run */
    bool is_ordered;     /* events of all CPUs come by time; else those of each CPU do */
    size_t ring_bytes;   /* a power of two; 0: as above */
};

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

struct perf_session_cpu;
struct perf_session_event;

struct perf_session {
    struct perf_session_options options;
    struct perf_clock clock;
    struct perf_session_cpu *cpus;
    size_t cpu_count;
    pid_t *tids; /* those of the process at the beginning; -1 for all */
    size_t tid_count;
    struct perf_session_event *events;  /* one for each descriptor */
    uint32_t found[PERF_SESSION_FOUND]; /* where one with such an id was, by its low bits */
    size_t event_count;
    size_t event_capacity;
    struct source_probe *const *probes; /* by number; the caller's */
    uint64_t *lost_by_records;          /* of each source, as the rings say */
    size_t probe_count;
    struct hash_map processes; /* that are watched, if one is */
    bool is_sized;             /* somebody said how large rings are */
    bool is_user_only;         /* this user may not see what the kernel does */
};

/* Begins with nothing but the news of processes. Explains errors. */
MUST_USE int perf_session_create(const struct perf_session_options *options, struct perf_session *session_out,
                                 struct gait_error *err);
void perf_session_destroy(struct perf_session *session);

/* Opens probes on all CPUs, not yet enabled; they stay the caller's, and must outlive the session. */
MUST_USE int perf_session_open(struct perf_session *session, struct source_probe *const *probes, size_t count,
                               struct gait_error *err);

/* Gives a filter to the events of a tracepoint. -EINVAL: it cannot be read, or names no field. */
MUST_USE int perf_session_filter(struct perf_session *session, size_t probe, const char *filter);

/* Fastens a program in the kernel, by its descriptor, to the events of a probe. */
MUST_USE int perf_session_set_program(struct perf_session *session, size_t probe, int program);

/* The descriptor of a probe's event on the CPU with that place in the list; -1: there is none. */
int perf_session_descriptor(const struct perf_session *session, size_t probe, size_t cpu);

/* The number of the CPU with that place in the list. */
uint32_t perf_session_cpu(const struct perf_session *session, size_t cpu);

/* Lets events come, or no more. What starts on exec needs no begin. */
MUST_USE int perf_session_enable(struct perf_session *session, struct gait_error *err);
void perf_session_disable(struct perf_session *session);

/*
 * Hands over what is in the rings. With is_last also what came so lately that something earlier may yet follow. How
 * many records these were.
 */
size_t perf_session_drain(struct perf_session *session, const struct perf_receiver *receiver, bool is_last);

/* Sleeps until a ring is half full, the other descriptor (-1: none) can be read, or for that long. */
void perf_session_wait(const struct perf_session *session, int other, int timeout_ms);

/* How many events of a source were lost. */
uint64_t perf_session_lost(const struct perf_session *session, size_t probe);

#endif
