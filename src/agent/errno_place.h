/* SPDX-License-Identifier: MIT */
/* Where errno is: the C library has a function that tells, which is understood, not called. One for the process. */
#ifndef GAIT_AGENT_ERRNO_PLACE_H
#define GAIT_AGENT_ERRNO_PLACE_H

#include <stdint.h>

/*
 * Such a function is there, as it was made; of several, the first one counts, that of the program's own C library. One
 * call at a time.
 */
void errno_place_add(uint64_t address);

/* What was in that range is gone. */
void errno_place_remove(uint64_t start, uint64_t end);

/* Of the calling thread; 0: nobody knows. Some system calls, no lock. */
uint64_t errno_place_find(void);

#endif
