/* SPDX-License-Identifier: MIT */
/* What a program in the kernel is to do at a probe: its config is filled in. Stateless. */
#ifndef GAIT_KERNEL_PROGRAM_SETUP_H
#define GAIT_KERNEL_PROGRAM_SETUP_H

#include "kernel/chosen_probes.h"

#include <stdbool.h>

/*
 * Reads a condition on the values of an event, as people write them: "fd == 3 && (count > 4096 || flags & 0x10)". The
 * words are those of the kernel's own filters. It becomes groups of comparisons. -EINVAL: it cannot be read; -ENOENT:
 * it names no field; -E2BIG: it takes more than PROGRAM_CONDITIONS_MAX comparisons. Explains errors.
 */
MUST_USE int condition_parse(const char *text, const struct source_probe *probe, struct program_config *config,
                             struct gait_error *err);

/*
 * Whether a program at the raw tracepoint of the same name can count what this one is to count at a probe: before the
 * kernel has made a record of it, which takes longer than the counting. Then all places of its values are those of the
 * raw tracepoint's arguments; else they are as they were.
 */
bool raw_tracepoint_counts(const struct source_probe *probe, struct program_config *config);

#endif
