/* SPDX-License-Identifier: MIT */
/*
 * The arguments of probes that were passed, as people read them. Notes do not distinguish pointers from other numbers:
 * what is too large for most others is shown as one. What is in the record is not trusted. Stateless.
 */
#ifndef GAIT_TRACE_PROBE_TEXT_H
#define GAIT_TRACE_PROBE_TEXT_H

#include "trace/detail_text.h"

/* All of them, with commas between. */
void probe_text_put_arguments(struct detail_text *text, struct detail_values values);

#endif
