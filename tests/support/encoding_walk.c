/* SPDX-License-Identifier: MIT */
/* Fields that only number registers are sampled; all others take all values, counted through as one mixed number. */
#include "support/encoding_walk.h"

#include <string.h>

struct walk {
    void (*visit)(void *context, const uint8_t bytes[ENCODING_WALK_BYTES]);
    void *context;
    uint8_t bytes[ENCODING_WALK_BYTES];
    unsigned map, opcode;
};

/* Takes the next field out of a number that counts through all combinations. */
static unsigned take(unsigned *number, unsigned values)
{
    unsigned value = *number % values;

    *number /= values;
    return value;
}

/* What follows the opcode if nothing else is said: small displacements and immediates. */
static void begin(struct walk *walk)
{
    memset(walk->bytes, 1, sizeof(walk->bytes));
}

static void walk_legacy(struct walk *walk)
{
    static const uint8_t prefixes[][2] = {{0},          {0x66}, {0xf3}, {0xf2}, {0x66, 0xf3},
                                          {0x66, 0xf2}, {0xf0}, {0x67}, {0x2e}, {0x64}};
    static const uint8_t rexes[] = {0, 0x48, 0x45};

    for (unsigned i = 0; i < sizeof(prefixes) / 2 * 3 * 256; i++) {
        unsigned rest = i, used = 0;
        unsigned modrm = take(&rest, 256);
        uint8_t rex = rexes[take(&rest, 3)];
        const uint8_t *prefix = prefixes[rest];

        begin(walk);
        for (int p = 0; p < 2; p++)
            if (prefix[p] != 0)
                walk->bytes[used++] = prefix[p];
        if (rex != 0)
            walk->bytes[used++] = rex;
        if (walk->map > 0)
            walk->bytes[used++] = 0x0f;
        if (walk->map > 1)
            walk->bytes[used++] = walk->map == 2 ? 0x38 : 0x3a;
        walk->bytes[used++] = (uint8_t)walk->opcode;
        walk->bytes[used] = (uint8_t)modrm;
        walk->visit(walk->context, walk->bytes);
    }
}

/* The opcode stands behind the operand, whose length depends on modrm: without displacement it is right behind. */
static void walk_3dnow(struct walk *walk)
{
    for (unsigned reg = 0; reg < 8; reg++) {
        begin(walk);
        memcpy(walk->bytes, (uint8_t[]){0x0f, 0x0f, (uint8_t)(0xc1 | reg << 3), (uint8_t)walk->opcode}, 4);
        walk->visit(walk->context, walk->bytes);
        walk->bytes[2] = (uint8_t)(0x01 | reg << 3);
        walk->visit(walk->context, walk->bytes);
    }
}

/* Puts a modrm byte, and a sib byte whose index differs from the register. */
static void put_modrm(uint8_t *bytes, unsigned is_register, unsigned reg, unsigned rm)
{
    bytes[0] = (uint8_t)((is_register ? 0xc0 : 0x40) | reg << 3 | rm);
    if (!is_register && rm == 4)
        bytes[1] = (uint8_t)(((reg + 5) & 7) << 3 | 2);
}

static void walk_vex(struct walk *walk, uint8_t lead)
{
    for (unsigned i = 0; i < 4 * 2 * 2 * 2 * 8 * 2 * 8; i++) {
        unsigned rest = i;
        unsigned pp = take(&rest, 4), w = take(&rest, 2), length = take(&rest, 2), has_vvvv = take(&rest, 2);
        unsigned is_register = take(&rest, 2), reg = take(&rest, 8), rm = rest;

        begin(walk);
        walk->bytes[0] = lead;
        walk->bytes[1] = (uint8_t)(0xe0 | walk->map);
        walk->bytes[2] = (uint8_t)(w << 7 | (has_vvvv ? 0x30 : 0x78) | length << 2 | pp);
        walk->bytes[3] = (uint8_t)walk->opcode;
        put_modrm(&walk->bytes[4], is_register, reg, rm);
        walk->visit(walk->context, walk->bytes);
    }
}

static void walk_evex(struct walk *walk)
{
    static const uint8_t masks[] = {0x00, 0x01, 0x81}; /* none, merging, zeroing */

    for (unsigned i = 0; i < 4 * 2 * 4 * 2 * 2 * 8 * 2 * 3; i++) {
        unsigned rest = i;
        unsigned pp = take(&rest, 4), w = take(&rest, 2), length = take(&rest, 4), broadcast = take(&rest, 2);
        unsigned is_register = take(&rest, 2), reg = take(&rest, 8), has_vvvv = take(&rest, 2);
        uint8_t mask = masks[rest];

        begin(walk);
        walk->bytes[0] = 0x62;
        walk->bytes[1] = (uint8_t)(0xf0 | walk->map);
        walk->bytes[2] = (uint8_t)(w << 7 | (has_vvvv ? 0x30 : 0x78) | 4 | pp);
        walk->bytes[3] = (uint8_t)(mask | length << 5 | broadcast << 4 | 8);
        walk->bytes[4] = (uint8_t)walk->opcode;
        put_modrm(&walk->bytes[5], is_register, reg, is_register ? (reg + 1) & 7 : 4);
        walk->visit(walk->context, walk->bytes);
    }
}

void encoding_walk(size_t part, void (*visit)(void *context, const uint8_t bytes[ENCODING_WALK_BYTES]), void *context)
{
    struct walk walk = {.visit = visit, .context = context, .opcode = part & 255};
    unsigned map = (unsigned)(part >> 8);

    walk.map = map < 4 ? map : map < 37 ? map - 5 : map < 61 ? map - 37 + 8 : map - 61;
    if (map < 4)
        walk_legacy(&walk);
    else if (map == 4)
        walk_3dnow(&walk);
    else if (map < 37)
        walk_vex(&walk, 0xc4);
    else if (map < 61)
        walk_vex(&walk, 0x8f);
    else
        walk_evex(&walk);
}
