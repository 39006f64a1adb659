/* SPDX-License-Identifier: MIT */
/*
 * Single registers of the program in memory that vector_state_save (arch/vector_state.h) has filled, and that
 * vector_state_restore puts back. A kind is one of gait/cpu_registers.h. Implemented once for each CPU in
 * arch/<cpu>/host. No libc, no locks; usable inside the target, from any thread.
 */
#ifndef GAIT_ARCH_VECTOR_REGISTERS_H
#define GAIT_ARCH_VECTOR_REGISTERS_H

#include "base/attributes.h"

#include <stddef.h>

/* How many registers of a kind the machine has, bases included, and how many bytes each has. */
unsigned vector_registers_count(unsigned kind);
size_t vector_registers_bytes(unsigned kind);

/* The lowest bytes of one that the machine has, but of bases. */
void vector_registers_get(const void *area, unsigned kind, unsigned number, void *bytes_out, size_t size_bytes);

/* Changes those bytes, and no others. -EINVAL: the CPU would refuse that. */
MUST_USE int vector_registers_set(void *area, unsigned kind, unsigned number, const void *bytes, size_t size_bytes);

#endif
