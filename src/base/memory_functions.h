/* SPDX-License-Identifier: MIT */
/*
 * The four functions that compilers call without being asked. Images without libc link ours; everything else has
 * libc's, and a library that carries both keeps ours to itself (hidden). As ISO C describes them. Callable from any
 * thread, in signal handlers and inside the target; they use general registers only.
 */
#ifndef GAIT_BASE_MEMORY_FUNCTIONS_H
#define GAIT_BASE_MEMORY_FUNCTIONS_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *left, const void *right, size_t size);

#endif
