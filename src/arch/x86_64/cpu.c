/* SPDX-License-Identifier: MIT */
/* All that gait has for x86-64. */
#include "arch/cpu.h"

#include "arch/x86_64/x86_engine.h"

extern const struct abi abi_x86_64;
extern const struct arch arch_x86_64;
extern const struct cpu cpu_x86_64;

const struct cpu cpu_x86_64 = {
    .name = "x86_64",
    .abi = &abi_x86_64,
    .arch = &arch_x86_64,
    .engine = &(const struct engine){&x86_emit, &x86_place, &x86_registers, &x86_frame, &x86_hook},
};
