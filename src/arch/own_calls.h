/* SPDX-License-Identifier: MIT */
/*
 * Where system calls return to that we make for ourselves: a filter of system calls (seccomp), which is told that
 * place, can tell them from the program's by it. Usable inside the target.
 */
#ifndef GAIT_ARCH_OWN_CALLS_H
#define GAIT_ARCH_OWN_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OWN_CALLS_MAX 32

/* Returns how many there are. */
size_t own_calls_list(uint64_t addresses_out[OWN_CALLS_MAX]);

/*
 * Calls of the core and of gates are made from now on by an instruction of the program, for who is judged by where that
 * is (syscall user dispatch): one that is followed by a return, and stays there. 0: by our own again. False: not on
 * this CPU.
 */
bool own_calls_make_at(uint64_t place);

/* Where in the bytes there is such an instruction; SIZE_MAX: nowhere. */
size_t own_calls_find_place(const uint8_t *bytes, size_t size_bytes);

/* Returns from a signal handler whose frame that is, by such a call. */
_Noreturn void own_calls_return_from_signal(uint64_t frame);

#endif
