/* SPDX-License-Identifier: MIT */
/*
 * What the kernel puts on the stack of a program that is about to begin: arguments, environment, and the auxiliary
 * vector. Read from there it takes one call; /proc has it, too, and takes four, one of which opens a file.
 */
#ifndef GAIT_INJECT_START_STACK_H
#define GAIT_INJECT_START_STACK_H

#include "base/attributes.h"
#include "inject/tracee.h"

#include <stdint.h>

/*
 * A value of the auxiliary vector (AT_...) of the program that a fresh tracee is about to begin. -ENOENT: it has none
 * of the kind, or what is on its stack does not look like one; and what reading the thread gives.
 */
MUST_USE int start_stack_auxiliary(const struct tracee *tracee, uint64_t type, uint64_t *value_out);

#endif
