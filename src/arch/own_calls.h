/* SPDX-License-Identifier: MIT */
/*
 * Where system calls return to that we make for ourselves: a filter of system calls (seccomp), which is told that
 * place, can tell them from the program's by it. Usable inside the target.
 */
#ifndef GAIT_ARCH_OWN_CALLS_H
#define GAIT_ARCH_OWN_CALLS_H

#include <stddef.h>
#include <stdint.h>

#define OWN_CALLS_MAX 32

/* Returns how many there are. */
size_t own_calls_list(uint64_t addresses_out[OWN_CALLS_MAX]);

#endif
