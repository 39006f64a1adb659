/* SPDX-License-Identifier: MIT */
/* How much room the state needs, and how it is moved, by what the system has enabled. */
#include "stalker/vectors.h"

#include <cpuid.h>
#include <stdbool.h>
#include <stdint.h>

#define XSAVE_LEAF 13

/* As stalker_vector_switch.S has it. */
#define AREA_BYTES_MIN 4096
#define AREA_KIND      3144

/* Bits of XCR0. */
#define STATE_MOVED     0xe7u  /* x87, SSE, AVX, AVX-512 */
#define STATE_IGNORED   0x200u /* protection keys: no function changes them by the way */

#define LEAF_1_OSXSAVE  (1u << 27) /* ecx */
#define LEAF_7_AVX512F  (1u << 16) /* ebx */
#define LEAF_7_AVX512BW (1u << 30)
#define XSAVE_IN_USE    (1u << 2) /* leaf 13, 1: eax; xgetbv tells what is in use */

static uint64_t enabled_state(void)
{
    uint32_t low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static bool can_be_moved(void)
{
    unsigned eax, ebx, ecx, edx;

    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & LEAF_1_OSXSAVE))
        return false;
    if ((enabled_state() & ~(uint64_t)STATE_IGNORED) != STATE_MOVED)
        return false;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !(ebx & LEAF_7_AVX512F) || !(ebx & LEAF_7_AVX512BW))
        return false;
    return __get_cpuid_count(XSAVE_LEAF, 1, &eax, &ebx, &ecx, &edx) && eax & XSAVE_IN_USE;
}

size_t stalker_vectors_bytes(void)
{
    unsigned eax, ebx, ecx, edx;

    if (!__get_cpuid_count(XSAVE_LEAF, 0, &eax, &ebx, &ecx, &edx))
        return 0;
    return ebx < AREA_BYTES_MIN ? AREA_BYTES_MIN : ebx;
}

void stalker_vectors_init(void *area)
{
    ((uint8_t *)area)[AREA_KIND] = can_be_moved();
}
