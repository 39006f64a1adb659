/* SPDX-License-Identifier: MIT */
/* What the probes of a trace are called. Nothing is kept; any thread. */
#ifndef GAIT_VIEW_PROBE_NAMES_H
#define GAIT_VIEW_PROBE_NAMES_H

#include "trace/manifest.h"

#include <stddef.h>
#include <stdint.h>

struct view_trace;

/* The probe with that number in records of a process; NULL: the manifest does not have it. */
const struct manifest_probe *probe_names_find(const struct view_trace *trace, size_t process, uint64_t number);

/* "provider:name"; of one that is not known, "probe 7". */
void probe_names_put(const struct view_trace *trace, size_t process, uint64_t number, char *text, size_t text_bytes);

#endif
