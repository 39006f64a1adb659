/* SPDX-License-Identifier: MIT */
/* The threads of a trace that somebody means: by number, or by a glob for their names. Stateless. */
#ifndef GAIT_VIEW_THREAD_PATTERN_H
#define GAIT_VIEW_THREAD_PATTERN_H

#include "view/view_trace.h"

/* Whether a text means a thread with that number and name. */
bool thread_pattern_means(const char *text, uint32_t tid, const char *name);

/*
 * Indexes of all threads that one of the texts means, to be freed; without texts, of all, also of those that have only
 * details. They are in the order in which the threads began. -ENOENT: a text means none, and err says which; -ENOMEM.
 */
MUST_USE int thread_pattern_choose(const struct view_trace *trace, const char *const *texts, size_t text_count,
                                   size_t **threads_out, size_t *count_out, struct gait_error *err);

#endif
