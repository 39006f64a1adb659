/* SPDX-License-Identifier: MIT */
/*
 * Conditions on the values of an event, as people write them: "fd == 3 && (count > 4096 || flags & 0x10)". The words
 * are those of the kernel's own filters. They become groups of comparisons for a program in the kernel. Stateless.
 */
#ifndef GAIT_KERNEL_CONDITION_H
#define GAIT_KERNEL_CONDITION_H

#include "kernel/chosen_probes.h"

/*
 * Reads one for a probe into the config. -EINVAL: it cannot be read; -ENOENT: it names no field; -E2BIG: it takes more
 * than PROGRAM_CONDITIONS_MAX comparisons. Explains errors.
 */
MUST_USE int condition_parse(const char *text, const struct source_probe *probe, struct program_config *config,
                             struct gait_error *err);

#endif
