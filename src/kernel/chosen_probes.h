/* SPDX-License-Identifier: MIT */
/* The probes that somebody asks for: specs, perhaps with globs, each of which becomes one or many. One thread at a
 * time. */
#ifndef GAIT_KERNEL_CHOSEN_PROBES_H
#define GAIT_KERNEL_CHOSEN_PROBES_H

#include "kernel/source.h"

/* A glob that means more than these is not what anybody wants to open at once. */
#define CHOSEN_PROBES_MAX 2048

struct chosen_probes {
    struct source_probe **probes;
    size_t count;
    size_t left_out; /* of globs: what the kernel refuses */
};

/*
 * Adds what a text means. -EINVAL: it is no spec; -ENOENT: there is no such place; -E2BIG: there are too many. Of a
 * glob, single places that cannot be had are left out, if some can. Explains errors.
 */
MUST_USE int chosen_probes_add(struct chosen_probes *list, const char *text, struct gait_error *err);
void chosen_probes_deinit(struct chosen_probes *list);

/*
 * Where a value of that name is for programs in the kernel: a field, pid, tid, uid, cpu, comm, or an argument by its
 * number, arg0. -ENOENT: nowhere.
 */
MUST_USE int probe_value_find(const struct source_probe *probe, const char *name, struct program_value *value_out);

#endif
