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
    X86_LEAF_STATE_AVX,     /* 13, 2: where it has the upper halves of ymm */
    X86_LEAF_STATE_MASKS,   /* 13, 5: k */
    X86_LEAF_STATE_UPPER,   /* 13, 6: the upper halves of zmm0 to zmm15 */
    X86_LEAF_STATE_HIGH,    /* 13, 7: zmm16 to zmm31 */
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
