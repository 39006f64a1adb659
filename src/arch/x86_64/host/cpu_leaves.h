/* SPDX-License-Identifier: MIT */
/*
 * What cpuid says, asked once: in a virtual machine each time takes microseconds, and gives the hypervisor the CPU. No
 * libc, no locks; usable inside the target, from any thread.
 */
#ifndef GAIT_ARCH_X86_64_HOST_CPU_LEAVES_H
#define GAIT_ARCH_X86_64_HOST_CPU_LEAVES_H

#include <stdint.h>

enum x86_cpu_leaf {
    X86_LEAF_IDENTITY,      /* 0 */
    X86_LEAF_FEATURES,      /* 1 */
    X86_LEAF_MORE_FEATURES, /* 7 */
    X86_LEAF_STATE_SIZES,   /* 13: of what xsave saves */
    X86_LEAF_STATE_WAYS,    /* 13, 1: of saving it */
    X86_LEAF_COUNT,
};

struct x86_cpu_answer {
    uint32_t eax, ebx, ecx, edx;
};

/* Of leaf 1, ecx: xsave is there, and the system has enabled it. */
#define X86_FEATURES_OSXSAVE (1u << 27)

/* All zero where the CPU has no such leaf. */
struct x86_cpu_answer x86_cpu_leaf(enum x86_cpu_leaf leaf);

#endif
