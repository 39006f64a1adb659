/* SPDX-License-Identifier: MIT */
/*
 * Signals that come from a clock, as often as the kernel can, and what their handler sees of the code that they
 * interrupt. For code that runs in microseconds. All of it belongs to the process and to the thread that began it.
 */
#ifndef GAIT_TESTS_INTERRUPTIONS_H
#define GAIT_TESTS_INTERRUPTIONS_H

#include "support/step_list.h"

/* Interruptions of code in a span since they were started; those elsewhere are not kept. */
struct interruptions {
    struct arena_span code;
    size_t count;
    struct step steps[STEP_LIST_ROOM];
};

extern struct interruptions interruptions;

/* Installs the handler of SIGUSR1, on the alternate stack, and makes the clock. 0 or -errno. */
int interruptions_begin(struct arena_span code) __attribute__((warn_unused_result));

void interruptions_start(void);
void interruptions_stop(void);

#endif
