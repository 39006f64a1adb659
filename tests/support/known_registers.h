/* SPDX-License-Identifier: MIT */
/* Code that has the same values in most registers at each of its instructions. x86-64 only. */
#ifndef GAIT_TESTS_KNOWN_REGISTERS_H
#define GAIT_TESTS_KNOWN_REGISTERS_H

#include "gait/cpu_context.h"

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Goes round, with direct and indirect branches, until *is_finished is set; adds to *round_count. Between the two
 * addresses all registers but rax, rcx, rdx, rdi, rsi have known values.
 */
void known_registers_spin(const atomic_bool *is_finished, atomic_long *round_count);
/* The same in one system call: waits until the word at `word` is no longer 0 and somebody wakes. */
void known_registers_wait(atomic_int *word);
extern const char known_registers_start[], known_registers_end[];

/* Whether a thread with these registers is there, and they have these values. */
bool known_registers_hold(const struct gait_cpu_context *cpu);

#endif
