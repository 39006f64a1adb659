/* SPDX-License-Identifier: MIT */
/*
 * Draws machine states whose values are worth running code on: even bits alone would hardly ever produce a carry out of
 * a small number, a zero divisor or an address that is mapped.
 */
#include "support/machine_state.h"

#if defined(__x86_64__)

#include <string.h>

#include "support/random.h"

static uint64_t random_pointer(struct random *random, const struct machine_random_options *options)
{
    const struct arena_span *span = &options->spans[random_below(random, options->span_count)];
    uint64_t address = span->address + random_below(random, span->size_bytes);

    /* Most pointers of programs are aligned. */
    return random_chance(random, 3, 4) ? address & ~7ull : address;
}

static uint64_t random_value(struct random *random, const struct machine_random_options *options)
{
    switch (random_below(random, 6)) {
    case 0:
        return random_below(random, 256);
    case 1:
        return random_edge(random);
    case 2:
        return 0 - random_below(random, 256);
    case 3:
    case 4:
        if (options->span_count != 0)
            return random_pointer(random, options);
        return random_u64(random) >> random_below(random, 64);
    default:
        return random_u64(random);
    }
}

/* Two floats, or a double, of everyday size, or one of the special ones. */
static uint64_t random_float_lane(struct random *random)
{
    static const uint64_t doubles[] = {
        0,
        0x8000000000000000,
        0x3ff0000000000000,
        0x7ff0000000000000,
        0xfff0000000000000,
        0x7ff8000000000000,
        0x7ff4000000000000,
        0x0000000000000001,
        0x7fefffffffffffff,
    };
    static const uint32_t floats[] = {0,          0x80000000, 0x3f800000, 0x7f800000, 0xff800000,
                                      0x7fc00000, 0x7fa00000, 0x00000001, 0x7f7fffff};
    uint64_t lane;

    switch (random_below(random, 4)) {
    case 0:
        return doubles[random_below(random, sizeof(doubles) / sizeof(doubles[0]))];
    case 1:
        lane = floats[random_below(random, sizeof(floats) / sizeof(floats[0]))];
        return lane << 32 | floats[random_below(random, sizeof(floats) / sizeof(floats[0]))];
    case 2:
        lane = random_u64(random);
        return (lane & 0x800fffffffffffff) | (1023 - 16 + random_below(random, 32)) << 52;
    default:
        lane = random_u64(random);
        return (lane & 0x807fffff807fffff) | (127 - 8 + random_below(random, 16)) << 23 |
               (127 - 8 + random_below(random, 16)) << 55;
    }
}

static void randomize_vectors(struct machine_state *state, struct random *random,
                              const struct machine_random_options *options)
{
    for (unsigned i = 0; i < machine_state_vector_count(); i++) {
        struct machine_zmm value = {{0}};
        uint64_t kind = random_below(random, 8);

        for (unsigned lane = 0; kind != 0 && lane < 8; lane++) {
            if (kind <= 2)
                value.lane[lane] = random_value(random, options);
            else if (kind <= 5)
                value.lane[lane] = random_float_lane(random);
            else
                value.lane[lane] = random_u64(random);
        }
        machine_state_zmm_set(state, i, value);
    }
    for (unsigned i = 0; i < 8; i++)
        machine_state_k_set(state, i, random_chance(random, 1, 2) ? random_u64(random) : random_edge(random));
    /* All exceptions masked; sticky flags, denormals-are-zero, rounding and flush-to-zero as they come. */
    state->legacy.mxcsr = 0x1f80 | (random_u64(random) & 0xe07f);
}

static void randomize_x87(struct machine_state *state, struct random *random)
{
    struct machine_legacy *legacy = &state->legacy;

    /* Precision 1 is reserved. */
    legacy->x87_control = (uint16_t)(0x7f | random_below(random, 4) << 10);
    legacy->x87_control |= random_chance(random, 3, 4) ? 0x300 : (random_chance(random, 1, 2) ? 0x200 : 0);
    /* Condition codes, top and sticky flags; not the error summary, which belongs to unmasked exceptions. */
    legacy->x87_status = (uint16_t)(random_u64(random) & 0x7f7f);
    legacy->x87_tag = (uint8_t)random_u64(random);
    for (unsigned i = 0; i < 8; i++) {
        legacy->st[i].mantissa = random_u64(random) | 1ull << 63;
        legacy->st[i].sign_exponent = (uint16_t)(16383 - 32 + random_below(random, 64));
        if (random_chance(random, 1, 4)) {
            legacy->st[i].mantissa = random_edge(random);
            legacy->st[i].sign_exponent = (uint16_t)random_edge(random);
        }
    }
}

static uint64_t random_flags(struct random *random, uint64_t wanted)
{
    uint64_t flags = random_u64(random) & wanted;

    if (random_chance(random, 3, 4))
        flags &= ~(uint64_t)X86_FLAG_DF;
    if (random_chance(random, 3, 4))
        flags &= ~(uint64_t)X86_FLAG_AC;
    return flags;
}

void machine_state_randomize(struct machine_state *state, struct random *random,
                             const struct machine_random_options *options)
{
    uint64_t rip = state->rip;

    machine_state_init(state);
    state->rip = rip;
    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        state->gpr[i] = random_value(random, options);
    if (options->stack.size_bytes != 0) {
        uint64_t offset = options->stack.size_bytes / 4 + random_below(random, options->stack.size_bytes / 2);

        state->gpr[X86_RSP] = (options->stack.address + offset) & ~7ull;
    }
    state->rflags |= random_flags(random, options->flags);
    randomize_vectors(state, random, options);
    randomize_x87(state, random);
}

#endif
