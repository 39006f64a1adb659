/* SPDX-License-Identifier: MIT */
/*
 * A process of the test's whose threads are stopped and sent to the agent's entrance as the controller does it; the
 * agent is the one that is linked with the test. One in a process. Ends the program if there is none to be had.
 */
#ifndef GAIT_TESTS_AGENT_TARGET_H
#define GAIT_TESTS_AGENT_TARGET_H

#include "inject/thread_group.h"
#include "protocol/agent_call.h"

#include <stdbool.h>

struct agent_target {
    pid_t pid;
    struct thread_group group; /* while it is stopped */
    struct agent_call call;    /* what is asked next, and was answered last */
};

extern struct agent_target agent_target;

/* Forks a process that calls the function and then ends with 0, or with 1 if checks of its have failed. */
void agent_target_start(int (*run)(void));

/* Stops all threads, and lets them go on. */
void agent_target_stop(void);
void agent_target_go(void);

/*
 * While it is stopped: the first thread calls the agent, about all threads from the one with number `first` on, whose
 * registers are set as it says. Returns the call's result.
 */
int agent_target_ask(enum agent_operation operation, size_t first);

/* Opens the ring of the last call, for agent_lab_take. */
void agent_target_open_ring(void);

/* Makes all threads leave, and ends the session; false: that does not work. */
bool agent_target_leave(void);

/* Waits for its end, and returns its status as waitpid gives it. */
int agent_target_end(void);

#endif
