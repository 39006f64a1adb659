/* SPDX-License-Identifier: MIT */
/*
 * Where calls leave their return addresses. What tells one call of a thread from another is its slot: the stack pointer
 * that the function was entered with. On some CPUs the return address is there, on others it is in a register. No
 * state; from anywhere.
 */
#ifndef GAIT_HOOK_CALL_SLOT_H
#define GAIT_HOOK_CALL_SLOT_H

#include "gait/cpu_numbers.h"

#include <stdint.h>

/* Of the stack that a call takes, and its return gives back. */
#define CALL_SLOT_BYTES (GAIT_CPU_LINK_REGISTER == GAIT_CPU_NO_REGISTER ? sizeof(uint64_t) : 0)

/* The stack pointer when the function of a slot has returned; and the slot of one that has just returned. */
static inline uint64_t call_slot_left(uint64_t slot)
{
    return slot + CALL_SLOT_BYTES;
}

static inline uint64_t call_slot_of_left(uint64_t sp)
{
    return sp - CALL_SLOT_BYTES;
}

/* Where the return address is of a function that is entered, or about to return, with these registers by number. */
static inline uint64_t *call_slot_return(uint64_t *registers, uint64_t slot)
{
    return GAIT_CPU_LINK_REGISTER == GAIT_CPU_NO_REGISTER ? (uint64_t *)(uintptr_t)slot
                                                          : &registers[GAIT_CPU_LINK_REGISTER % GAIT_CPU_REGISTERS_MAX];
}

#endif
