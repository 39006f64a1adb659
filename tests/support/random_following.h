/* SPDX-License-Identifier: MIT */
/*
 * Random programs, run by the CPU step by step and then followed, for sandbox.h: a program, memory and a state to begin
 * in are drawn from the seed of the case, and each mode of follow_mode.h must see and leave behind what the CPU did.
 * Programs that fault go on behind the fault. All of it belongs to the process: one at a time.
 */
#ifndef GAIT_TESTS_RANDOM_FOLLOWING_H
#define GAIT_TESTS_RANDOM_FOLLOWING_H

#include "support/sandbox.h"

#include <stdbool.h>

struct random_following {
    bool shows_program;     /* of each case, and not only where something differs */
    bool from_outside;      /* also in the modes in which another thread follows */
    const char *repetition; /* how to run one case alone, with its number at the end */
};

/* Makes memory and engines; for sandbox_batch.begin. */
int random_following_begin(void *context);

/* Tries the case; for sandbox_batch.run. The context is a struct random_following. What differs is printed. */
enum sandbox_verdict random_following_run(void *context, const struct sandbox_case *now);

#endif
