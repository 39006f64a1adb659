/* SPDX-License-Identifier: MIT */
/*
 * Watching: probes opened as perf events, on all CPUs, of all processes or of one and those that it makes; one ring for
 * each CPU, which perf_reader.h empties. Everything that was set up is a descriptor, and so gone with the process that
 * has it. One thread at a time.
 */
#ifndef GAIT_KERNEL_PERF_SESSION_H
#define GAIT_KERNEL_PERF_SESSION_H

#include "base/hash_map.h"
#include "kernel/perf_clock.h"
#include "kernel/perf_ring.h"
#include "kernel/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PERF_SESSION_RING_BYTES (8u << 20) /* of each CPU, by default */
#define PERF_SESSION_FOUND      256u       /* a power of two */

struct perf_session_options {
    pid_t pid;           /* 0: all processes */
    bool starts_on_exec; /* of a process that is about to execute a program: not before */
    bool with_stacks;    /* of the kernel and of the program */
    bool with_copies;    /* those of the program are undone by tables, out of copies that the kernel makes */
    bool with_switches;  /* reports when threads begin and cease to run */
    bool is_ordered;     /* events of all CPUs come by time; else those of each CPU do */
    size_t ring_bytes;   /* a power of two; 0: as above */
};

struct perf_session_cpu {
    uint32_t number;
    int fd; /* of the event that has the ring */
    struct perf_ring ring;
    uint64_t last; /* the counter of the event reported last: the next is not before it */
};

struct perf_session_event {
    int fd;
    uint32_t cpu; /* in the list */
    uint32_t probe;
    uint64_t id;
    bool is_news;
    bool is_plain;    /* its samples have nothing but raw bytes, and all of them are wanted */
    bool is_copied;   /* its samples have registers and a stack of the program */
    bool is_chosen;   /* samples of processes that are not watched are left out */
    uint32_t raw_max; /* bytes behind these mean nothing */
};

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
    struct stack_unwinder *unwinder; /* NULL: nothing is copied */
    struct hash_map processes;       /* that are watched, if one is */
    bool is_sized;                   /* the user said how large rings are */
    bool is_user_only;               /* this user may not see what the kernel does */
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

/* How many events of a source were lost. */
uint64_t perf_session_lost(const struct perf_session *session, size_t probe);

#endif
