/* SPDX-License-Identifier: MIT */
/*
 * What people type to say where to look: the words that they know from bpftrace, as "tracepoint:sched:sched_switch" or
 * "uprobe:/bin/bash:readline". Only read here; whether there is such a place is for others to say. Stateless.
 */
#ifndef GAIT_KERNEL_PROBE_SPEC_H
#define GAIT_KERNEL_PROBE_SPEC_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stdbool.h>
#include <stdint.h>

enum probe_kind {
#define PROBE_KIND(constant, name, short_name, form) PROBE_##constant,
#include "kernel/probe_kinds.def"
#undef PROBE_KIND
    PROBE_KINDS,
};

/* Which of a second's parts the number of a profile counts. */
enum probe_unit {
    PROBE_UNIT_HZ,
    PROBE_UNIT_S,
    PROBE_UNIT_MS,
    PROBE_UNIT_US,
};

/* Parts that a kind does not have are empty. */
struct probe_spec {
    enum probe_kind kind;
    char *text;        /* as it was typed, but with the whole name of the kind */
    const char *path;  /* of uprobe, uretprobe and usdt: a program or library; "": any */
    const char *group; /* of a tracepoint; the provider of a usdt probe, "": any */
    const char *name;  /* of the function, tracepoint, probe or event */
    uint64_t offset;   /* from the function on; of a uprobe without a function, the address in the file */
    uint64_t count;    /* of software, hardware and profile; 0: not said */
    enum probe_unit unit;
    bool has_address; /* a uprobe by address; of several probes that are called the same, the one at that place */
    bool is_glob;     /* some part but the path has *, ? or [ in it, and may mean many */
    char *parts;      /* what the texts above point into */
};

/* How a kind is called: "kprobe"; and how one is written. */
const char *probe_kind_name(enum probe_kind kind);

/*
 * Reads one. -EINVAL: it is none, and err says what to write instead; -ENOMEM. A path with a colon in it is written in
 * quotation marks. To be given back by probe_spec_deinit.
 */
MUST_USE int probe_spec_parse(const char *text, struct probe_spec *spec_out, struct gait_error *err);
void probe_spec_deinit(struct probe_spec *spec);

/* How many nanoseconds lie between two looks of a profile. */
uint64_t probe_spec_period_ns(const struct probe_spec *spec);

#endif
