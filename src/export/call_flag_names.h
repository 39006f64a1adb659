/* SPDX-License-Identifier: MIT */
/* What is not sure of a call, in words: "guessed", "cut", "unwound", "no_return", and of parts of calls "suspended",
 * "resumed"; "entry_only": it has no duration. Constant; callable from anywhere. */
#ifndef GAIT_EXPORT_CALL_FLAG_NAMES_H
#define GAIT_EXPORT_CALL_FLAG_NAMES_H

#include <stdint.h>

/* The names of all flags that are set, of enum call_flag, with a space between each two: "" if there are none. */
const char *call_flag_names(uint32_t flags);

#endif
