/* SPDX-License-Identifier: MIT */
/*
 * What the kernel's events of a trace mean: kernel/sources.gait, in memory. Nothing in the file is trusted. After
 * reading it does not change.
 */
#ifndef GAIT_TRACE_KERNEL_SOURCES_H
#define GAIT_TRACE_KERNEL_SOURCES_H

#include "trace/kernel_layout.h"
#include "trace/stream_reader.h"

struct kernel_source {
    uint32_t id; /* 0: there is none with that number */
    uint32_t raw_base;
    char *spec;
    char *name;
    char *format;
    struct kernel_field *fields;
    size_t field_count;
    bool has_total;
    uint64_t event_count; /* if there is a total, as the next one */
    uint64_t lost_count;
};

struct kernel_thread {
    uint32_t pid;
    uint32_t tid;
    uint64_t time;
    size_t order;
    char name[17];
};

struct kernel_function {
    uint64_t start;
    uint64_t end;
    char *name;
};

struct kernel_sources {
    struct kernel_source *sources; /* by id, from number 0 on, which is none */
    size_t source_count;           /* with that one */
    struct kernel_thread *threads; /* by tid and time */
    size_t thread_count;
    struct kernel_function *functions; /* by start */
    size_t function_count;
    struct stream_end end;
};

/* As trace_blocks_read. */
MUST_USE int kernel_sources_read(struct kernel_sources *sources, int folder, const char *path, struct gait_error *err);
void kernel_sources_deinit(struct kernel_sources *sources);

/* NULL: there is none with that number. */
const struct kernel_source *kernel_sources_find(const struct kernel_sources *sources, uint32_t id);

/* How a thread was called then; "": nobody knows. */
const char *kernel_sources_thread(const struct kernel_sources *sources, uint32_t tid, uint64_t time);

/* The function of the kernel that an address is in; NULL: not known. */
const struct kernel_function *kernel_sources_function(const struct kernel_sources *sources, uint64_t address);

/* The field of that name; NULL: it has none. */
const struct kernel_field *kernel_source_field(const struct kernel_source *source, const char *name);

#endif
