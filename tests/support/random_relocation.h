/* SPDX-License-Identifier: MIT */
/*
 * Random cases for the relocator, for sandbox.h: a run of random instructions, a way to relocate it and a state to
 * begin in are drawn from the seed of the case. All of it belongs to the process: one at a time.
 */
#ifndef GAIT_TESTS_RANDOM_RELOCATION_H
#define GAIT_TESTS_RANDOM_RELOCATION_H

#include "support/sandbox.h"

/* What is done with a case. */
enum random_relocation_trial {
    RANDOM_RELOCATION_BY_END,    /* original and copy are run, and must end in the same state */
    RANDOM_RELOCATION_BY_STEPS,  /* both are stepped through, and must agree at each instruction */
    RANDOM_RELOCATION_BY_LIMITS, /* nothing is run: the copy is made with too little of everything */
};

/* Makes the laboratory; for sandbox_batch.begin. The context is not looked at. */
int random_relocation_begin(void *context);

/* Tries the case; for sandbox_batch.run. The context points to the enum random_relocation_trial. */
enum sandbox_verdict random_relocation_run(void *context, const struct sandbox_case *now);

#endif
