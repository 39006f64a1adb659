/* SPDX-License-Identifier: MIT */
/* The kernel's events of a recording: what --probe and --sched of spawn and attach ask for. One thread at a time. */
#ifndef GAIT_CLI_KERNEL_PROBES_H
#define GAIT_CLI_KERNEL_PROBES_H

#include "kernel/kernel_recorder.h"
#include "kernel/watch.h"

struct option_list;

struct kernel_probes {
    struct chosen_probes list;
    struct watch watch;
    struct kernel_recorder *recorder; /* NULL: it has not begun */
    size_t switch_source;             /* whose number switches have; 0: not asked for */
};

/*
 * Finds the places that the specs mean; with_sched: and those that record when threads run. -EINVAL, -ENOENT: there is
 * no such place, and err says which there are; or it is one in the program's code, where the agent is.
 */
MUST_USE int kernel_probes_find(struct kernel_probes *probes, const struct option_list *specs, bool with_sched,
                                struct gait_error *err);

struct kernel_probes_target {
    pid_t pid;
    int folder; /* of the trace */
    bool compress;
};

/* Begins to watch a process and what it makes. Explains errors. Nothing to do if nothing was asked for. */
MUST_USE int kernel_probes_begin(struct kernel_probes *probes, const struct kernel_probes_target *target,
                                 struct gait_error *err);

/* Writes what came. */
MUST_USE int kernel_probes_step(struct kernel_probes *probes, struct gait_error *err);

/* Ends it, with all that is left. How many events there are. */
uint64_t kernel_probes_end(struct kernel_probes *probes);

/* The names that a spec could have meant are added to the error that it is none. */
void kernel_probes_suggest(const char *text, struct gait_error *err);

#endif
