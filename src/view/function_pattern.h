/* SPDX-License-Identifier: MIT */
/*
 * Functions by a pattern that a person types: NAME or MODULE!NAME, both as globs. A module is known by the last part of
 * its path, or by all of it where the pattern has a slash; without a module, any is meant. NAME fits the name as it is
 * shown, with or without what stands behind it: the parameters of C++, or the @plt of a stub. Stateless.
 */
#ifndef GAIT_VIEW_FUNCTION_PATTERN_H
#define GAIT_VIEW_FUNCTION_PATTERN_H

#include "view/view_functions.h"

#include <stdbool.h>

/* How long the name is without what stands behind it. */
size_t function_pattern_bare_length(const char *name);

bool function_pattern_matches(const char *pattern, const struct view_function *function);

#endif
