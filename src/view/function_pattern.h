/* SPDX-License-Identifier: MIT */
/*
 * Functions by a pattern that a person types, as symbolize/function_spelling.h says; without a module, any is meant.
 * NAME fits the name as it is shown, with or without what stands behind it: the parameters of C++, or the @plt of a
 * stub. One thread at a time.
 */
#ifndef GAIT_VIEW_FUNCTION_PATTERN_H
#define GAIT_VIEW_FUNCTION_PATTERN_H

#include "view/view_functions.h"

#include <stdbool.h>

/* Whether one of those functions is meant; NULL: by nothing but its name as it is shown. */
bool function_pattern_matches(struct view_functions *functions, const char *pattern,
                              const struct view_function *function);

#endif
