/* SPDX-License-Identifier: MIT */
/* All arm64 CPUs decode alike. */
#include "arch/host_cpu.h"

const char *host_cpu_name(void)
{
    return "arm64";
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
