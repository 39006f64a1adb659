/* SPDX-License-Identifier: MIT */
/*
 * The vector image and its typed view. Where the components are is asked of the CPU once (CPUID is slow in a virtual
 * machine). The random generator is in machine_random.c, the comparison in machine_compare.c; who loads and stores the
 * image of a signal frame is code_runner.c.
 */
#include "support/machine_state.h"

#if defined(__x86_64__)

#include <assert.h>
#include <cpuid.h>
#include <string.h>

static_assert(sizeof(struct machine_legacy) == 512, "the CPU defines this layout");
static_assert(offsetof(struct machine_legacy, mxcsr) == 24, "the CPU defines this layout");
static_assert(offsetof(struct machine_legacy, st) == 32, "the CPU defines this layout");
static_assert(offsetof(struct machine_legacy, xmm) == 160, "the CPU defines this layout");
static_assert(sizeof(struct machine_image_header) == 64, "the CPU defines this layout");

/* Numbers of XSAVE components. */
enum {
    COMPONENT_YMM_UPPER = 2,
    COMPONENT_MASKS = 5,
    COMPONENT_ZMM_UPPER = 6,
    COMPONENT_ZMM_16_31 = 7,
    COMPONENT_COUNT = 8,
};

enum {
    FIRST_EXTENDED = COMPONENT_YMM_UPPER,
    HEADER_OFFSET = 512,
    X87_CONTROL_INITIAL = 0x37f,
    MXCSR_INITIAL = 0x1f80,
    OSXSAVE_BIT = 1 << 27,
    RFLAGS_ALWAYS = 1 << 1 | X86_FLAG_IF,
};

/* Zero size: not on this CPU. */
struct placement {
    uint32_t offset;
    uint32_t size_bytes;
};

static struct {
    bool known;
    uint64_t components;
    struct placement placement[COMPONENT_COUNT];
} layout;

static uint64_t enabled_components(void)
{
    uint32_t eax, ebx, ecx, edx;

    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & OSXSAVE_BIT) == 0)
        return 0;
    __asm__ volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
    return (uint64_t)edx << 32 | eax;
}

static void detect(void)
{
    uint64_t enabled = enabled_components();

    layout.components = enabled & (MACHINE_X87 | MACHINE_SSE | MACHINE_AVX);
    if ((enabled & MACHINE_AVX512) == MACHINE_AVX512)
        layout.components |= MACHINE_AVX512;
    for (unsigned i = FIRST_EXTENDED; i < COMPONENT_COUNT; i++) {
        uint32_t size, offset, ecx, edx;

        if ((layout.components >> i & 1) == 0)
            continue;
        __cpuid_count(0xd, i, size, offset, ecx, edx);
        if (offset + size > MACHINE_IMAGE_BYTES)
            layout.components = 0;
        layout.placement[i] = (struct placement){offset, size};
    }
    layout.known = true;
}

uint64_t machine_state_components(void)
{
    if (!layout.known)
        detect();
    return layout.components;
}

static bool has(uint64_t component)
{
    return (machine_state_components() & component) != 0;
}

unsigned machine_state_vector_bytes(void)
{
    if (has(MACHINE_AVX512))
        return 64;
    return has(MACHINE_AVX) ? 32 : 16;
}

unsigned machine_state_vector_count(void)
{
    return has(MACHINE_AVX512) ? 32 : 16;
}

static struct machine_image_header *header_of(struct machine_state *state)
{
    return (struct machine_image_header *)(state->image + HEADER_OFFSET);
}

void machine_state_init(struct machine_state *state)
{
    memset(state, 0, sizeof(*state));
    state->rflags = RFLAGS_ALWAYS;
    state->legacy.x87_control = X87_CONTROL_INITIAL;
    state->legacy.mxcsr = MXCSR_INITIAL;
    header_of(state)->present = machine_state_components();
}

/*
 * One piece of a vector register: where it is in the image (NULL if not on this CPU), and which lanes it holds.
 * Registers 0-15 are in three pieces, 16-31 in one.
 */
struct piece {
    size_t offset;
    unsigned lane;
    unsigned lane_count;
};

static unsigned pieces_of(unsigned index, struct piece pieces[3])
{
    const struct placement *at = layout.placement;
    unsigned count = 0;

    if (index >= machine_state_vector_count())
        return 0;
    if (index >= 16) {
        pieces[count++] = (struct piece){at[COMPONENT_ZMM_16_31].offset + 64 * (index - 16), 0, 8};
        return count;
    }
    pieces[count++] = (struct piece){offsetof(struct machine_legacy, xmm) + 16 * index, 0, 2};
    if (at[COMPONENT_YMM_UPPER].size_bytes != 0)
        pieces[count++] = (struct piece){at[COMPONENT_YMM_UPPER].offset + 16 * index, 2, 2};
    if (at[COMPONENT_ZMM_UPPER].size_bytes != 0)
        pieces[count++] = (struct piece){at[COMPONENT_ZMM_UPPER].offset + 32 * index, 4, 4};
    return count;
}

struct machine_zmm machine_state_zmm_get(const struct machine_state *state, unsigned index)
{
    struct machine_zmm value = {{0}};
    struct piece pieces[3];
    unsigned count = pieces_of(index, pieces);

    for (unsigned i = 0; i < count; i++)
        memcpy(&value.lane[pieces[i].lane], state->image + pieces[i].offset, pieces[i].lane_count * sizeof(uint64_t));
    return value;
}

void machine_state_zmm_set(struct machine_state *state, unsigned index, struct machine_zmm value)
{
    struct piece pieces[3];
    unsigned count = pieces_of(index, pieces);

    for (unsigned i = 0; i < count; i++)
        memcpy(state->image + pieces[i].offset, &value.lane[pieces[i].lane], pieces[i].lane_count * sizeof(uint64_t));
}

uint64_t machine_state_k_get(const struct machine_state *state, unsigned index)
{
    uint64_t value = 0;

    if (has(MACHINE_AVX512) && index < 8)
        memcpy(&value, state->image + layout.placement[COMPONENT_MASKS].offset + 8 * index, sizeof(value));
    return value;
}

void machine_state_k_set(struct machine_state *state, unsigned index, uint64_t value)
{
    if (has(MACHINE_AVX512) && index < 8)
        memcpy(state->image + layout.placement[COMPONENT_MASKS].offset + 8 * index, &value, sizeof(value));
}

static void load_x87(struct machine_legacy *to, const struct machine_legacy *from, bool present)
{
    if (!present) {
        memset(to, 0, offsetof(struct machine_legacy, mxcsr));
        memset(to->st, 0, sizeof(to->st));
        to->x87_control = X87_CONTROL_INITIAL;
        return;
    }
    memcpy(to, from, offsetof(struct machine_legacy, mxcsr));
    to->reserved = 0;
    for (unsigned i = 0; i < 8; i++)
        to->st[i] = (struct machine_st){from->st[i].mantissa, from->st[i].sign_exponent, {0}};
}

void machine_state_image_load(struct machine_state *state, const void *xsave_image)
{
    const uint8_t *from = xsave_image;
    const struct machine_legacy *legacy = xsave_image;
    const struct machine_image_header *header = (const void *)(from + HEADER_OFFSET);
    uint64_t present = header->present;

    load_x87(&state->legacy, legacy, (present & MACHINE_X87) != 0);
    /* MXCSR is written whatever the header says of SSE. */
    state->legacy.mxcsr = legacy->mxcsr;
    state->legacy.mxcsr_mask = 0;
    if (present & MACHINE_SSE)
        memcpy(state->legacy.xmm, legacy->xmm, sizeof(legacy->xmm));
    else
        memset(state->legacy.xmm, 0, sizeof(legacy->xmm));
    memset(state->legacy.unused, 0, sizeof(legacy->unused));
    *header_of(state) = (struct machine_image_header){.present = layout.components};
    for (unsigned i = FIRST_EXTENDED; i < COMPONENT_COUNT; i++) {
        struct placement at = layout.placement[i];

        if (present >> i & 1)
            memcpy(state->image + at.offset, from + at.offset, at.size_bytes);
        else
            memset(state->image + at.offset, 0, at.size_bytes);
    }
}

void machine_state_image_store(const struct machine_state *state, void *xsave_image)
{
    uint8_t *to = xsave_image;
    struct machine_legacy *legacy = xsave_image;
    struct machine_image_header *header = (void *)(to + HEADER_OFFSET);
    uint32_t mxcsr_mask = legacy->mxcsr_mask;

    memcpy(legacy, &state->legacy, offsetof(struct machine_legacy, unused));
    legacy->mxcsr_mask = mxcsr_mask;
    legacy->mxcsr &= mxcsr_mask;
    header->present |= layout.components;
    for (unsigned i = FIRST_EXTENDED; i < COMPONENT_COUNT; i++) {
        struct placement at = layout.placement[i];

        memcpy(to + at.offset, state->image + at.offset, at.size_bytes);
    }
}

#endif
