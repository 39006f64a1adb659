/* SPDX-License-Identifier: MIT */
/* The gs base, by way of the kernel: instructions for it exist only where the system allows them. */
#include "base/raw_syscall.h"
#include "stalker/translator.h"

#include <asm/prctl.h>
#include <asm/unistd.h>

void stalker_segment_set(uint64_t base)
{
    raw_syscall(__NR_arch_prctl, ARCH_SET_GS, (long)base, 0, 0, 0, 0);
}

uint64_t stalker_segment_get(void)
{
    uint64_t base = 0;

    raw_syscall(__NR_arch_prctl, ARCH_GET_GS, (long)&base, 0, 0, 0, 0);
    return base;
}
