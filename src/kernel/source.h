/* SPDX-License-Identifier: MIT */
/*
 * The contract for sources of events: kinds of places in the kernel and in programs that the kernel can watch. A source
 * is one line in sources.def and a file that defines `const struct source source_<name>`. It knows which places of its
 * kind there are and how to ask the kernel for one; asking, reading and writing down are done by others, the same way
 * for all. Stateless; one thread at a time.
 */
#ifndef GAIT_KERNEL_SOURCE_H
#define GAIT_KERNEL_SOURCE_H

#include "base/attributes.h"
#include "gait/error.h"
#include "kernel/probe_spec.h"
#include "kernel/program_layout.h"
#include "trace/kernel_layout.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Out of which part of a sample the fields of an event are read. */
enum source_raw {
    SOURCE_RAW_BYTES,     /* what the kernel, or a program in it, writes for it */
    SOURCE_RAW_REGISTERS, /* the registers of the mask, a u64 each, by number */
    SOURCE_RAW_PLACE,     /* two u64: where the program was, and the address that it is about */
};

/* What a program in the kernel has to be fastened to, if no perf event is. */
enum source_program {
    SOURCE_PROGRAM_NONE,
    SOURCE_PROGRAM_RAW_TRACEPOINT,
    SOURCE_PROGRAM_ENTRY, /* of a function */
    SOURCE_PROGRAM_EXIT,
    SOURCE_PROGRAM_PROBE, /* another perf event, `trigger` */
};

/* How to ask the kernel for one place, and what it answers. */
struct source_probe {
    enum probe_kind kind;
    char *spec;                  /* without globs */
    char *name;                  /* what to call it */
    struct perf_event_attr attr; /* type and what is special; the rest is up to who opens it */
    struct perf_event_attr trigger;
    char *text; /* what attr or trigger points to; may be NULL */
    enum source_raw raw;
    enum source_program program;
    char *target;                                    /* what the program is fastened to */
    struct program_value values[PROGRAM_VALUES_MAX]; /* what it writes */
    size_t value_count;
    size_t value_bytes;
    struct kernel_field fields[KERNEL_FIELDS_MAX];
    size_t field_count;
    uint32_t raw_base;
    char *format; /* how the kernel would print it; may be NULL */
};

void source_probe_deinit(struct source_probe *probe);

/* Adds a field; what does not fit is left out. */
void source_probe_add_field(struct source_probe *probe, const struct kernel_field *field, const char *name);

/* Gets the spec of a place; another result than 0 ends the listing, and is returned. */
typedef int source_visit(void *context, const char *spec);

struct source {
    enum probe_kind kind;
    const char *purpose; /* half a line: what one sees by it */
    /* Whether this kernel and this user may use it, tried without harm. 0, or -errno with the reason and what to do. */
    int (*check)(struct gait_error *err);
    /* The places that a spec with globs means. */
    int (*list)(const struct probe_spec *spec, source_visit *visit, void *context, struct gait_error *err);
    /* One place, by a spec without globs. -ENOENT: there is none; else as the kernel says. */
    int (*resolve)(const struct probe_spec *spec, struct source_probe *probe_out, struct gait_error *err);
};

/* The source of a kind; never NULL. */
const struct source *source_of(enum probe_kind kind);

/* The places that a spec means, with or without globs; -ENOENT if there are none. */
MUST_USE int source_list(const struct probe_spec *spec, source_visit *visit, void *context, struct gait_error *err);

/* The type of a kind of perf events that has no fixed number; -ENOENT: this kernel has none of that kind. */
MUST_USE int source_dynamic_type(const char *name, uint32_t *type_out);

/*
 * Whether such an event can be opened, for the calling process or, where that is not possible, for CPU 0. 0 or -errno.
 */
MUST_USE int source_try(const struct perf_event_attr *attr);

/* Puts why the kernel refused to open something into words, with what to do. Returns the code, negated. */
int source_explain(const char *what, int code, struct gait_error *err);

#endif
