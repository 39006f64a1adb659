/* SPDX-License-Identifier: MIT */
/* The crc32 instruction of SSE 4.2, which works on general registers. */
#include "base/crc32c_instruction.h"

#include "arch/x86_64/host/cpu_leaves.h"

#define FEATURES_SSE4_2 (1u << 20) /* ecx */

bool crc32c_instruction_exists(void)
{
    return x86_cpu_leaf(X86_LEAF_FEATURES).ecx & FEATURES_SSE4_2;
}

__attribute__((target("crc32"))) uint32_t crc32c_instruction_run(uint32_t state, const void *bytes, size_t size_bytes)
{
    const uint8_t *place = bytes;
    uint64_t wide = state, word;

    for (; size_bytes >= sizeof(word); size_bytes -= sizeof(word), place += sizeof(word)) {
        __builtin_memcpy(&word, place, sizeof(word));
        wide = __builtin_ia32_crc32di(wide, word);
    }
    state = (uint32_t)wide;
    for (; size_bytes > 0; size_bytes--)
        state = __builtin_ia32_crc32qi(state, *place++);
    return state;
}
