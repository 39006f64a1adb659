/* SPDX-License-Identifier: MIT */
/*
 * How a landing finds out whether it is the one of the target in rcx: in steps that make 0 of the one right address,
 * each of which can be taken back. No other register is free: rdi says where the branch came from. Flags stay.
 */
#ifndef GAIT_ARCH_X86_64_STALKER_LANDING_CHECK_H
#define GAIT_ARCH_X86_64_STALKER_LANDING_CHECK_H

#include "base/address.h"

#include <stdint.h>

struct code_writer;

/*
 * Writes the check: goes on behind it if rcx is `start`, with rcx 0; else to the gate, with rcx as it was, by way of
 * the cold memory, where the writer itself may be.
 */
void x86_put_landing_check(struct code_writer *writer, struct code_writer *cold, struct app_pc start);

/* The target, from what rcx is at an offset from the writer's place. */
uint64_t x86_landing_check_target(struct app_pc start, uint32_t offset, uint64_t rcx);

#endif
