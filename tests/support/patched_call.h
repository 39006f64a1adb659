/* SPDX-License-Identifier: MIT */
/*
 * A function that makes the system call whose number it is given, with up to five arguments, through a stub: as it is
 * when its instruction was patched. For tests of gates and stubs.
 */
#ifndef GAIT_TESTS_SUPPORT_PATCHED_CALL_H
#define GAIT_TESTS_SUPPORT_PATCHED_CALL_H

#include "hook/system_call_stub.h"

typedef long (*patched_call)(long number, long a, long b, long c, long d, long e);

/* After system_calls_begin. Ends the test if it cannot be made. What stands before and behind the call is copied. */
patched_call patched_call_make(struct system_call_stub *stub_out, struct hook_plan *plan_out);

#endif
