/* SPDX-License-Identifier: MIT */
/*
 * Probes with names in the kernel, of a group that begins with "gait". Gait makes none: its probes go with it. But
 * scripts around it may have, or somebody by hand, and what was left goes on costing.
 */
#ifndef GAIT_CLI_DOCTOR_CLEAN_H
#define GAIT_CLI_DOCTOR_CLEAN_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stddef.h>

/* The part of a line of dynamic_events that names such a probe, "gait_x/name"; the length is 0: it is none. */
const char *doctor_clean_name(const char *line, size_t *length_out);

/* Removes them. How many there were, and how many are in use and stay. */
MUST_USE int doctor_clean(size_t *removed_out, size_t *kept_out, struct gait_error *err);

#endif
