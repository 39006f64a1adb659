/* SPDX-License-Identifier: MIT */
/* What to say of a set of system calls that cannot be read: what is wrong, and what may have been meant. Stateless. */
#ifndef GAIT_CLI_SYSTEM_CALL_HINT_H
#define GAIT_CLI_SYSTEM_CALL_HINT_H

#include "gait/error.h"
#include "syscalls/system_call_set.h"

/* Fills in the error; `option` is what the text was given to: "-e trace=". */
void system_call_hint(const char *option, const struct system_call_set_fault *fault, struct gait_error *err);

#endif
