/* SPDX-License-Identifier: MIT */
/* All that gait has for arm64: what Linux and ELF files agree on, not its instructions yet. */
#include "arch/cpu.h"

extern const struct abi abi_arm64;
extern const struct cpu cpu_arm64;

const struct cpu cpu_arm64 = {
    .name = "arm64",
    .abi = &abi_arm64,
};
