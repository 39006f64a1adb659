/* SPDX-License-Identifier: MIT */
/* How much room the state needs, by what the system has enabled. */
#include "stalker/vectors.h"

#include <cpuid.h>

#define XSAVE_LEAF 13

size_t stalker_vectors_bytes(void)
{
    unsigned eax, ebx, ecx, edx;

    if (!__get_cpuid_count(XSAVE_LEAF, 0, &eax, &ebx, &ecx, &edx))
        return 0;
    return ebx;
}
