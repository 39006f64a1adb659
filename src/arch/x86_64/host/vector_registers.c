/* SPDX-License-Identifier: MIT */
/*
 * A register is in up to three pieces of the saved state, since each extension of the CPU has added a component that
 * holds what is new. Invariant: a component that is not present is in its initial state, whatever the memory has there;
 * before one of its registers is changed to something else it is made present. The layout is that of vector_area.h.
 */
#include "arch/vector_registers.h"

#include "arch/x86_64/host/cpu_leaves.h"
#include "arch/x86_64/host/vector_area.h"
#include "gait/x86_64.h"

#include <asm/errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Components by their bits, of XCR0 too. */
enum component {
    COMPONENT_X87 = 0,
    COMPONENT_SSE = 1,
    COMPONENT_AVX = 2,
    COMPONENT_MASKS = 5,
    COMPONENT_UPPER = 6,
    COMPONENT_HIGH = 7,
    COMPONENT_ALWAYS, /* none: it is saved in any case */
};

#define STATE_AVX    (1u << COMPONENT_AVX)
#define STATE_AVX512 (1u << COMPONENT_MASKS | 1u << COMPONENT_UPPER | 1u << COMPONENT_HIGH)

/* The image's first part, as fxsave has it. */
#define LEGACY_CONTROL      0
#define LEGACY_STATUS       2
#define LEGACY_IN_USE       4
#define LEGACY_MXCSR        24
#define LEGACY_MXCSR_MASK   28
#define LEGACY_ST           32
#define LEGACY_XMM          160
#define LEGACY_BYTES        512

#define X87_CONTROL_INITIAL 0x37f
#define MXCSR_MASK_DEFAULT  0xffbfu
#define LOW_COUNT           16u /* of vector registers that SSE and AVX have */
#define REGISTER_BYTES_MAX  64u
#define PIECES_MAX          3u

struct piece {
    uint32_t offset;
    uint8_t bytes;
    uint8_t component;
};

struct vector_pieces {
    struct piece items[PIECES_MAX];
    unsigned count;
};

static uint32_t enabled(void)
{
    uint32_t low, high;

    if (!(x86_cpu_leaf(X86_LEAF_FEATURES).ecx & X86_FEATURES_OSXSAVE))
        return 1u << COMPONENT_X87 | 1u << COMPONENT_SSE;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static bool has_avx512(void)
{
    return (enabled() & STATE_AVX512) == STATE_AVX512;
}

unsigned vector_registers_count(unsigned kind)
{
    switch (kind) {
    case GAIT_REGISTER_VECTOR:
        return has_avx512() ? 2 * LOW_COUNT : LOW_COUNT;
    case GAIT_REGISTER_MASK:
        return has_avx512() ? 8 : 0;
    case GAIT_REGISTER_FLOAT:
        return 8;
    case GAIT_REGISTER_CONTROL:
        return GAIT_X86_64_CONTROL_COUNT;
    case GAIT_REGISTER_BASE:
        return 2;
    default:
        return 0;
    }
}

size_t vector_registers_bytes(unsigned kind)
{
    switch (kind) {
    case GAIT_REGISTER_VECTOR:
        if (has_avx512())
            return GAIT_X86_64_ZMM_BYTES;
        return enabled() & STATE_AVX ? GAIT_X86_64_YMM_BYTES : GAIT_X86_64_XMM_BYTES;
    case GAIT_REGISTER_MASK:
        return has_avx512() ? GAIT_X86_64_K_BYTES : 0;
    case GAIT_REGISTER_FLOAT:
        return GAIT_X86_64_ST_BYTES;
    case GAIT_REGISTER_CONTROL:
        return sizeof(uint32_t);
    case GAIT_REGISTER_BASE:
        return sizeof(uint64_t);
    default:
        return 0;
    }
}

/* ---- where they are ---------------------------------------------------------------------------------------------- */

static bool is_moved(const uint8_t *area)
{
    return area[AREA_KIND] != 0;
}

/* Where the image has a component, and how long it is. */
static struct x86_cpu_answer place_of(enum component component)
{
    switch (component) {
    case COMPONENT_AVX:
        return x86_cpu_leaf(X86_LEAF_STATE_AVX);
    case COMPONENT_MASKS:
        return x86_cpu_leaf(X86_LEAF_STATE_MASKS);
    case COMPONENT_UPPER:
        return x86_cpu_leaf(X86_LEAF_STATE_UPPER);
    case COMPONENT_HIGH:
        return x86_cpu_leaf(X86_LEAF_STATE_HIGH);
    default:
        return (struct x86_cpu_answer){.ebx = LEGACY_XMM, .eax = LOW_COUNT * GAIT_X86_64_XMM_BYTES};
    }
}

static void add(struct vector_pieces *pieces, enum component component, uint32_t offset, unsigned bytes)
{
    pieces->items[pieces->count++] = (struct piece){offset, (uint8_t)bytes, component};
}

/* The index-th register, or part of one, of a component. */
static void add_from_image(struct vector_pieces *pieces, enum component component, unsigned index, unsigned bytes)
{
    add(pieces, component, place_of(component).ebx + index * bytes, bytes);
}

static void find_vector(const uint8_t *area, unsigned number, struct vector_pieces *pieces)
{
    uint32_t moved = AREA_VECTORS + number * GAIT_X86_64_ZMM_BYTES;

    if (is_moved(area) && number >= LOW_COUNT) {
        add(pieces, COMPONENT_HIGH, moved, GAIT_X86_64_ZMM_BYTES);
    } else if (is_moved(area)) {
        add(pieces, COMPONENT_SSE, moved, 16);
        add(pieces, COMPONENT_AVX, moved + 16, 16);
        add(pieces, COMPONENT_UPPER, moved + 32, 32);
    } else if (number >= LOW_COUNT) {
        add_from_image(pieces, COMPONENT_HIGH, number - LOW_COUNT, GAIT_X86_64_ZMM_BYTES);
    } else {
        add_from_image(pieces, COMPONENT_SSE, number, 16);
        if (enabled() & STATE_AVX)
            add_from_image(pieces, COMPONENT_AVX, number, 16);
        if (has_avx512())
            add_from_image(pieces, COMPONENT_UPPER, number, 32);
    }
}

static void find_control(const uint8_t *area, unsigned number, struct vector_pieces *pieces)
{
    switch (number) {
    case GAIT_X86_64_MXCSR:
        add(pieces, COMPONENT_ALWAYS, is_moved(area) ? AREA_MXCSR : LEGACY_MXCSR, 4);
        break;
    case GAIT_X86_64_X87_CONTROL:
        add(pieces, COMPONENT_X87, LEGACY_CONTROL, 2);
        break;
    case GAIT_X86_64_X87_STATUS:
        add(pieces, COMPONENT_X87, LEGACY_STATUS, 2);
        break;
    default:
        add(pieces, COMPONENT_X87, LEGACY_IN_USE, 1);
        break;
    }
}

static struct vector_pieces find(const uint8_t *area, unsigned kind, unsigned number)
{
    struct vector_pieces pieces = {.count = 0};

    if (kind == GAIT_REGISTER_VECTOR)
        find_vector(area, number, &pieces);
    else if (kind == GAIT_REGISTER_FLOAT)
        add(&pieces, COMPONENT_X87, LEGACY_ST + number * 16, GAIT_X86_64_ST_BYTES);
    else if (kind == GAIT_REGISTER_CONTROL)
        find_control(area, number, &pieces);
    else if (is_moved(area))
        add(&pieces, COMPONENT_MASKS, AREA_MASKS + number * GAIT_X86_64_K_BYTES, GAIT_X86_64_K_BYTES);
    else
        add_from_image(&pieces, COMPONENT_MASKS, number, GAIT_X86_64_K_BYTES);
    return pieces;
}

/* ---- what is there ----------------------------------------------------------------------------------------------- */

/* The bits of components that are not in their initial state. */
static uint32_t *present(uint8_t *area)
{
    return (uint32_t *)(void *)(area + (is_moved(area) ? AREA_IN_USE : AREA_PRESENT));
}

/* Moves leave nothing out but the x87. */
static bool is_present(const uint8_t *area, enum component component)
{
    if (component == COMPONENT_ALWAYS || (is_moved(area) && component != COMPONENT_X87))
        return true;
    return *present((uint8_t *)(uintptr_t)area) >> component & 1;
}

static void make_present(uint8_t *area, enum component component)
{
    if (component == COMPONENT_ALWAYS)
        return;
    if (!is_present(area, component) && component == COMPONENT_X87) {
        __builtin_memset(area, 0, LEGACY_MXCSR);
        __builtin_memset(area + LEGACY_ST, 0, LEGACY_XMM - LEGACY_ST);
        __builtin_memcpy(area + LEGACY_CONTROL, &(uint16_t){X87_CONTROL_INITIAL}, sizeof(uint16_t));
    } else if (!is_present(area, component)) {
        __builtin_memset(area + place_of(component).ebx, 0, place_of(component).eax);
    }
    *present(area) |= 1u << component;
    /* The x87 is left to xrstor in any case. */
    if (component == COMPONENT_X87)
        area[AREA_PRESENT] |= 1u << COMPONENT_X87;
}

/* All of its bytes; those that the machine does not have are 0. */
static void read_pieces(const uint8_t *area, const struct vector_pieces *pieces, uint8_t bytes_out[REGISTER_BYTES_MAX])
{
    size_t at = 0;

    __builtin_memset(bytes_out, 0, REGISTER_BYTES_MAX);
    for (unsigned i = 0; i < pieces->count; at += pieces->items[i++].bytes) {
        const struct piece *piece = &pieces->items[i];

        if (is_present(area, (enum component)piece->component))
            __builtin_memcpy(bytes_out + at, area + piece->offset, piece->bytes);
        else if (piece->component == COMPONENT_X87 && piece->offset == LEGACY_CONTROL)
            __builtin_memcpy(bytes_out, &(uint16_t){X87_CONTROL_INITIAL}, piece->bytes);
    }
}

/* What stays as it is does not make a component present. */
static void write_pieces(uint8_t *area, const struct vector_pieces *pieces, const uint8_t *before, const uint8_t *after)
{
    size_t at = 0;

    for (unsigned i = 0; i < pieces->count; at += pieces->items[i++].bytes) {
        const struct piece *piece = &pieces->items[i];

        if (__builtin_memcmp(before + at, after + at, piece->bytes) == 0)
            continue;
        make_present(area, (enum component)piece->component);
        __builtin_memcpy(area + piece->offset, after + at, piece->bytes);
    }
}

/* The bits of mxcsr that the CPU has; others cannot be loaded. */
static uint32_t mxcsr_mask(void)
{
    static _Atomic uint32_t known;
    uint32_t mask = atomic_load_explicit(&known, memory_order_relaxed);
    _Alignas(16) uint8_t image[LEGACY_BYTES];

    if (mask != 0)
        return mask;
    __asm__ volatile("fxsave64 %0" : "=m"(image));
    __builtin_memcpy(&mask, image + LEGACY_MXCSR_MASK, sizeof(mask));
    mask = mask == 0 ? MXCSR_MASK_DEFAULT : mask;
    atomic_store_explicit(&known, mask, memory_order_relaxed);
    return mask;
}

static uint32_t control_mask(unsigned number)
{
    if (number == GAIT_X86_64_MXCSR)
        return mxcsr_mask();
    return number == GAIT_X86_64_X87_IN_USE ? UINT8_MAX : UINT16_MAX;
}

/* ---- getting and setting ----------------------------------------------------------------------------------------- */

void vector_registers_get(const void *area, unsigned kind, unsigned number, void *bytes_out, size_t size_bytes)
{
    struct vector_pieces pieces = find(area, kind, number);
    uint8_t bytes[REGISTER_BYTES_MAX];

    read_pieces(area, &pieces, bytes);
    __builtin_memcpy(bytes_out, bytes, size_bytes);
}

int vector_registers_set(void *area, unsigned kind, unsigned number, const void *bytes, size_t size_bytes)
{
    struct vector_pieces pieces = find(area, kind, number);
    uint8_t before[REGISTER_BYTES_MAX], after[REGISTER_BYTES_MAX];
    uint32_t value;

    read_pieces(area, &pieces, before);
    __builtin_memcpy(after, before, sizeof(after));
    __builtin_memcpy(after, bytes, size_bytes);
    __builtin_memcpy(&value, after, sizeof(value));
    if (kind == GAIT_REGISTER_CONTROL && value & ~control_mask(number))
        return -EINVAL;
    write_pieces(area, &pieces, before, after);
    return 0;
}
