/* SPDX-License-Identifier: MIT */
/*
 * Letting a stopped thread make a system call: what its registers are before and after one instruction. Implemented
 * once for each CPU in arch/<cpu>/host. No libc, no locks, no state.
 */
#ifndef GAIT_ARCH_SYSTEM_CALL_REGISTERS_H
#define GAIT_ARCH_SYSTEM_CALL_REGISTERS_H

#include "arch/thread_registers.h"

#include <stddef.h>
#include <stdint.h>

/* The bytes of the instruction that makes a system call. */
const uint8_t *system_call_instruction(size_t *size_out);

/* Registers with which a thread makes the system call when it does the instruction at `place`. */
void system_call_registers_set(struct thread_registers *registers, uint64_t place, long number, const long *arguments);

/*
 * Whether a system call's instruction at `bytes` is followed by the end of a function, and nothing else: how many words
 * that takes from the stack; 0: it is not, or nobody knows.
 */
unsigned system_call_return_words(const uint8_t *bytes, size_t size_bytes);

#define SYSTEM_CALL_RETURN_WORDS_MAX 2

/*
 * Before system_call_registers_set, where a function ends: has the thread come back to where it is now if nobody stops
 * it behind the system call, with its stack as it was; other registers are not. Returns where on the stack it expects
 * the words that are given.
 */
uint64_t system_call_registers_set_returning(struct thread_registers *registers, unsigned return_words,
                                             uint64_t words_out[SYSTEM_CALL_RETURN_WORDS_MAX]);

#define SYSTEM_CALL_SHELTER_BYTES 192

/*
 * Code that makes the system call in the registers, and then brings the thread to where and how it was: to those
 * registers, of which nothing is to be begun again, and that mask of signals. It touches no stack, and may stand at any
 * multiple of 16 that can be read and executed. How many bytes that are, at most SYSTEM_CALL_SHELTER_BYTES; 0: nobody
 * knows it for this CPU yet.
 */
size_t system_call_shelter(uint8_t bytes_out[SYSTEM_CALL_SHELTER_BYTES], const struct thread_registers *back,
                           uint64_t mask);

/* Which call it was that the thread is at the end of. */
long system_call_registers_number(const struct thread_registers *registers);

/* What the kernel answered. */
long system_call_registers_result(const struct thread_registers *registers);

#endif
