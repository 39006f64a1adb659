/* SPDX-License-Identifier: MIT */
/* How much room the state needs, and how it is moved, by what the system has enabled. */
#include "stalker/vectors.h"

#include "arch/x86_64/host/cpu_leaves.h"
#include "arch/x86_64/host/vector_area.h"

#include <asm/sigcontext.h>
#include <cpuid.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define XSAVE_LEAF 13

/* Bits of XCR0. */
#define STATE_MOVED     0xe7u                            /* x87, SSE, AVX, AVX-512 */
#define STATE_IGNORED   0x200u                           /* protection keys: no function changes them by the way */
#define STATE_TILED     (STATE_TILES | STATE_TILES >> 1) /* with how they are configured */

#define LEAF_7_AVX512F  (1u << 16) /* ebx */
#define LEAF_7_AVX512BW (1u << 30)
#define XSAVE_COMPACTED (1u << 1) /* leaf 13, 1: eax; parts of the state behind each other */
#define XSAVE_IN_USE    (1u << 2) /* the same; xgetbv tells what is in use */

#define CONTROL_ENABLED 0
#define CONTROL_IN_USE  1

/* Tiles, most of all state; part of a thread's frames only if the thread uses them. */
#define STATE_TILES     (1ull << 18)
#define STATE_FIRST     2 /* those before it are part of any image */
#define IMAGE_HEADER_AT 512
#define IMAGE_BYTES_MIN 576

static uint64_t control(uint32_t which)
{
    uint32_t low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(which));
    return (uint64_t)high << 32 | low;
}

static uint64_t enabled_state(void)
{
    return control(CONTROL_ENABLED);
}

static bool has_xsave(void)
{
    return x86_cpu_leaf(X86_LEAF_FEATURES).ecx & X86_FEATURES_OSXSAVE;
}

static bool can_be_moved(void)
{
    const uint32_t avx512 = LEAF_7_AVX512F | LEAF_7_AVX512BW, ways = XSAVE_COMPACTED | XSAVE_IN_USE;

    if (!has_xsave() || (enabled_state() & ~(STATE_IGNORED | STATE_TILED)) != STATE_MOVED)
        return false;
    return (x86_cpu_leaf(X86_LEAF_MORE_FEATURES).ebx & avx512) == avx512 &&
           (x86_cpu_leaf(X86_LEAF_STATE_WAYS).eax & ways) == ways;
}

/* Tiles that are saved by themselves, behind what is moved, take no more than all state together. */
size_t vector_state_bytes(void)
{
    uint32_t bytes = x86_cpu_leaf(X86_LEAF_STATE_SIZES).ebx;

    if (has_xsave() && enabled_state() & STATE_TILES)
        return AREA_TILES + bytes;
    return bytes == 0 || bytes > AREA_TILES ? bytes : AREA_TILES;
}

void vector_state_init(void *area)
{
    ((uint8_t *)area)[AREA_KIND] = can_be_moved();
}

/* Of what the state's parts take, which is known for all that is enabled together. */
static size_t image_bytes(uint64_t state)
{
    size_t bytes = IMAGE_BYTES_MIN;

    if (state == enabled_state())
        return x86_cpu_leaf(X86_LEAF_STATE_SIZES).ebx;
    for (unsigned i = STATE_FIRST; i < 63; i++) {
        unsigned size, offset, ecx, edx;

        if (state >> i & 1 && __get_cpuid_count(XSAVE_LEAF, i, &size, &offset, &ecx, &edx) && offset + size > bytes)
            bytes = offset + size;
    }
    return bytes;
}

/* What frames of this thread have, and how many bytes that takes; 0: the CPU knows no more than fxsave. */
static uint64_t frame_state(size_t *bytes_out)
{
    static _Atomic uint32_t known[2]; /* without tiles and with them: cpuid is slow */
    uint64_t state;
    uint32_t bytes;
    bool tiles;

    if (!has_xsave())
        return 0;
    state = enabled_state();
    tiles = state & STATE_TILES && control(CONTROL_IN_USE) & STATE_TILES;
    if (!tiles)
        state &= ~STATE_TILES;
    bytes = atomic_load_explicit(&known[tiles], memory_order_relaxed);
    if (bytes == 0) {
        bytes = (uint32_t)image_bytes(state);
        atomic_store_explicit(&known[tiles], bytes, memory_order_relaxed);
    }
    *bytes_out = bytes;
    return state;
}

void stalker_vectors_save_frame(void *area)
{
    struct _fpstate_64 *image = area;
    uint8_t *bytes = area;
    size_t size = 0;
    uint64_t state = frame_state(&size);

    if (state == 0 || size + sizeof(uint32_t) > STALKER_VECTORS_FRAME_BYTES_MAX) {
        __asm__ volatile("fxsave64 %0" : "=m"(*(uint8_t(*)[IMAGE_HEADER_AT])area));
        image->sw_reserved = (struct _fpx_sw_bytes){0};
        return;
    }
    __builtin_memset(bytes + IMAGE_HEADER_AT, 0, IMAGE_BYTES_MIN - IMAGE_HEADER_AT);
    __asm__ volatile("xsave64 %0"
                     : "+m"(*(uint8_t(*)[STALKER_VECTORS_FRAME_BYTES_MAX])area)
                     : "a"((uint32_t)state), "d"((uint32_t)(state >> 32)));
    image->sw_reserved = (struct _fpx_sw_bytes){
        .magic1 = FP_XSTATE_MAGIC1,
        .extended_size = (uint32_t)(size + FP_XSTATE_MAGIC2_SIZE),
        .xfeatures = state,
        .xstate_size = (uint32_t)size,
    };
    __builtin_memcpy(bytes + size, &(uint32_t){FP_XSTATE_MAGIC2}, FP_XSTATE_MAGIC2_SIZE);
}
