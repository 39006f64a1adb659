/* SPDX-License-Identifier: MIT */
/*
 * A place in a process where a stopped thread can make a system call for us and come back by itself, should we be
 * killed meanwhile: bytes at the end of a file that is mapped to be executed, which are zero and belong to nothing. All
 * threads of the process are to be stopped while there is code.
 */
#ifndef GAIT_INJECT_SHELTER_H
#define GAIT_INJECT_SHELTER_H

#include "base/attributes.h"
#include "inject/tracee.h"

#include <stdint.h>
#include <sys/types.h>

/* 0: there is none. */
uint64_t shelter_find(pid_t pid);

/*
 * Sends the thread there, to make that system call when it goes on. From now on it comes back to where it is if we die.
 * All signals are blocked: what was before is handed out. Errors: it is where it was, or gone.
 */
MUST_USE int shelter_enter(struct tracee *thread, uint64_t shelter, long number, const long arguments[6],
                           uint64_t *mask_out);

/* Clears the place, once the thread is elsewhere. */
void shelter_clear(pid_t pid, uint64_t shelter);

#endif
