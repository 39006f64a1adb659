/* SPDX-License-Identifier: MIT */
/* All arm64 CPUs decode alike. */
#include "arch/host_cpu.h"

#include "arch/cpu.h"

extern const struct cpu cpu_arm64;

const struct cpu *cpu_host(void)
{
    return &cpu_arm64;
}

unsigned host_cpu_decode_options(void)
{
    return 0;
}

bool host_cpu_has_base_insns(void)
{
    return false;
}

/* None are refused: the fault comes at the target. */
unsigned host_cpu_address_bits(void)
{
    return 64;
}
