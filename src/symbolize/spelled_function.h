/* SPDX-License-Identifier: MIT */
/* "module!function" with the function as people write it. Callable from any thread. */
#ifndef GAIT_SYMBOLIZE_SPELLED_FUNCTION_H
#define GAIT_SYMBOLIZE_SPELLED_FUNCTION_H

#include <stddef.h>

/* Of a function as its file spells it. What does not fit is cut off. Returns text_out. */
const char *spelled_function(const char *name, char *text_out, size_t text_bytes);

#endif
