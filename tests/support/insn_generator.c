/* SPDX-License-Identifier: MIT */
/*
 * Walks the switches of the decoder's tables from each opcode's root; each leaf is a place. An encoding is written
 * field by field, decoded, and thrown away unless it is of the wanted form. Fields that many forms want to be zero are
 * zero in half of all attempts.
 */
#include "support/insn_generator.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"

enum { ATTEMPTS = 100, INSN_BUFFER_BYTES = 32 };

/* ---- places --------------------------------------------------------------------------------------------------------
 */

static bool is_legacy_map(unsigned map)
{
    return map <= X86_MAP_3DNOW;
}

static bool is_evex_map(unsigned map)
{
    return map >= X86_MAP_EVEX1;
}

static bool has_modrm(const struct insn_place *place)
{
    return x86_opcode_roots[place->map][place->opcode].modrm_use != X86_MODRM_NONE;
}

static unsigned selector_size(const struct insn_place *place, unsigned selector)
{
    switch (selector) {
    case X86_SELECT_PREFIX:
        return is_legacy_map(place->map) ? 6 : 4;
    case X86_SELECT_REG:
        return 8;
    case X86_SELECT_RM:
        return has_modrm(place) ? 8 : 2;
    case X86_SELECT_LENGTH:
        return is_evex_map(place->map) ? 4 : 2;
    default:
        return 2;
    }
}

static int add_place(struct insn_places *places, const struct insn_place *place)
{
    /* Room grows by doubling, at powers of two. */
    if ((places->count & (places->count - 1)) == 0) {
        size_t room = places->count == 0 ? 1 : 2 * places->count;
        struct insn_place *list = realloc(places->list, room * sizeof(*list));

        if (list == NULL)
            return -ENOMEM;
        places->list = list;
    }
    places->list[places->count++] = *place;
    return 0;
}

static int walk(struct insn_places *places, struct insn_place *path, unsigned node)
{
    if (!X86_NODE_IS_SWITCH(node)) {
        path->form = (uint16_t)node;
        return node == X86_FORM_INVALID ? 0 : add_place(places, path);
    }

    const uint16_t *entry = &x86_switches[X86_NODE_PLACE(node)];
    unsigned selector = entry[0];

    path->decided |= (uint16_t)(1u << selector);
    for (unsigned value = 0; value < selector_size(path, selector); value++) {
        path->values[selector] = (uint8_t)value;

        int status = walk(places, path, entry[1 + value]);
        if (status != 0)
            return status;
    }
    path->decided &= (uint16_t) ~(1u << selector);
    return 0;
}

int insn_places_init(struct insn_places *places)
{
    *places = (struct insn_places){NULL, 0};
    for (unsigned map = 0; map < X86_MAP_COUNT; map++) {
        for (unsigned opcode = 0; opcode < 256; opcode++) {
            struct insn_place path = {.map = (uint8_t)map, .opcode = (uint8_t)opcode};
            int status = walk(places, &path, x86_opcode_roots[map][opcode].node);

            if (status != 0) {
                insn_places_deinit(places);
                return status;
            }
        }
    }
    return 0;
}

void insn_places_deinit(struct insn_places *places)
{
    free(places->list);
    *places = (struct insn_places){NULL, 0};
}

/* ---- encodings -----------------------------------------------------------------------------------------------------
 */

struct encoder {
    uint8_t *bytes;
    size_t used;
    struct random *random;
    const struct insn_place *place;
    bool is_tame; /* optional fields stay zero */
};

static void put(struct encoder *encoder, unsigned byte)
{
    encoder->bytes[encoder->used++] = (uint8_t)byte;
}

static bool is_decided(const struct insn_place *place, unsigned selector)
{
    return (place->decided >> selector & 1) != 0;
}

/* The selector's value, or a drawn one below the limit. */
static unsigned value_of(struct encoder *encoder, unsigned selector, unsigned limit)
{
    if (is_decided(encoder->place, selector))
        return encoder->place->values[selector];
    return (unsigned)random_below(encoder->random, limit);
}

/* A field that many forms want to be zero. */
static unsigned optional_field(struct encoder *encoder, unsigned limit)
{
    if (encoder->is_tame || random_chance(encoder->random, 1, 2))
        return 0;
    return (unsigned)random_below(encoder->random, limit);
}

static unsigned optional_value(struct encoder *encoder, unsigned selector, unsigned limit)
{
    if (is_decided(encoder->place, selector))
        return encoder->place->values[selector];
    return optional_field(encoder, limit);
}

static void put_address_prefixes(struct encoder *encoder)
{
    static const uint8_t segments[] = {0x26, 0x2e, 0x36, 0x3e, 0x65, 0x65, 0x65, 0x64};

    if (is_decided(encoder->place, X86_SELECT_ADDRESS_SIZE) ? encoder->place->values[X86_SELECT_ADDRESS_SIZE]
                                                            : random_chance(encoder->random, 1, 8))
        put(encoder, 0x67);
    if (random_chance(encoder->random, 1, 8))
        put(encoder, segments[random_below(encoder->random, sizeof(segments))]);
}

static void put_legacy_prefixes(struct encoder *encoder)
{
    static const uint8_t usual[] = {0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5};
    unsigned prefix = usual[random_below(encoder->random, sizeof(usual))];

    if (is_decided(encoder->place, X86_SELECT_PREFIX))
        prefix = encoder->place->values[X86_SELECT_PREFIX];
    if (!encoder->is_tame && random_chance(encoder->random, 1, 16))
        put(encoder, 0xf0);
    if (prefix & 1)
        put(encoder, 0x66);
    if (prefix >= 2)
        put(encoder, prefix >= 4 ? 0xf2 : 0xf3);
}

static void put_legacy_opcode(struct encoder *encoder)
{
    unsigned map = encoder->place->map;
    unsigned w = is_decided(encoder->place, X86_SELECT_W) ? encoder->place->values[X86_SELECT_W]
                                                          : random_chance(encoder->random, 1, 3);
    unsigned rex = w << 3 | optional_field(encoder, 8);

    /* Without modrm that selector is rex.b. */
    if (!has_modrm(encoder->place) && is_decided(encoder->place, X86_SELECT_RM))
        rex = (rex & 14) | encoder->place->values[X86_SELECT_RM];
    put_address_prefixes(encoder);
    put_legacy_prefixes(encoder);
    if (rex != 0 || random_chance(encoder->random, 1, 8))
        put(encoder, 0x40 | rex);
    if (map != X86_MAP_PRIMARY)
        put(encoder, 0x0f);
    if (map == X86_MAP_0F38 || map == X86_MAP_0F3A)
        put(encoder, map == X86_MAP_0F38 ? 0x38 : 0x3a);
    put(encoder, map == X86_MAP_3DNOW ? 0x0f : encoder->place->opcode);
}

static void put_vex_opcode(struct encoder *encoder)
{
    static const uint8_t maps[X86_MAP_COUNT] = {
        [X86_MAP_VEX1] = 1, [X86_MAP_VEX2] = 2, [X86_MAP_VEX3] = 3, [X86_MAP_VEX5] = 5,
        [X86_MAP_VEX7] = 7, [X86_MAP_XOP8] = 8, [X86_MAP_XOP9] = 9, [X86_MAP_XOPA] = 10,
    };
    unsigned map = encoder->place->map;
    unsigned w = value_of(encoder, X86_SELECT_W, 2), rxb = optional_field(encoder, 8);
    unsigned third = (~optional_field(encoder, 16) & 15) << 3 | value_of(encoder, X86_SELECT_LENGTH, 2) << 2 |
                     value_of(encoder, X86_SELECT_PREFIX, 4);

    put_address_prefixes(encoder);
    if (map == X86_MAP_VEX1 && w == 0 && (rxb & 3) == 0 && random_chance(encoder->random, 1, 2)) {
        put(encoder, 0xc5);
        put(encoder, (~rxb & 4) << 5 | third);
    } else {
        put(encoder, map >= X86_MAP_XOP8 ? 0x8f : 0xc4);
        put(encoder, (~rxb & 7) << 5 | maps[map]);
        put(encoder, w << 7 | third);
    }
    put(encoder, encoder->place->opcode);
}

static void put_evex_opcode(struct encoder *encoder)
{
    static const uint8_t maps[X86_MAP_COUNT] = {
        [X86_MAP_EVEX1] = 1, [X86_MAP_EVEX2] = 2, [X86_MAP_EVEX3] = 3, [X86_MAP_EVEX5] = 5, [X86_MAP_EVEX6] = 6};
    unsigned aaa = optional_field(encoder, 8);
    unsigned z = aaa != 0 ? optional_field(encoder, 2) : 0;

    /* Some want a mask. */
    if (encoder->is_tame && random_chance(encoder->random, 1, 2))
        aaa = 1 + (unsigned)random_below(encoder->random, 7);
    put_address_prefixes(encoder);
    put(encoder, 0x62);
    put(encoder, (~optional_field(encoder, 16) & 15) << 4 | maps[encoder->place->map]);
    put(encoder, value_of(encoder, X86_SELECT_W, 2) << 7 | (~optional_field(encoder, 16) & 15) << 3 | 4 |
                     value_of(encoder, X86_SELECT_PREFIX, 4));
    put(encoder, z << 7 | value_of(encoder, X86_SELECT_LENGTH, 3) << 5 |
                     optional_value(encoder, X86_SELECT_BROADCAST, 2) << 4 | (~optional_field(encoder, 2) & 1) << 3 |
                     aaa);
    put(encoder, encoder->place->opcode);
}

/* Displacements are small, so that a state can be found in which the address is mapped; absolute ones come later. */
static void put_displacement(struct encoder *encoder, unsigned size)
{
    int32_t value = (int32_t)random_below(encoder->random, 256) - 128;

    if (size == 1)
        value = (int8_t)value;
    memcpy(encoder->bytes + encoder->used, &value, size);
    encoder->used += size;
}

static void put_modrm(struct encoder *encoder)
{
    unsigned mod = value_of(encoder, X86_SELECT_MOD_REGISTER, 2) ? 3 : (unsigned)random_below(encoder->random, 3);
    unsigned reg = value_of(encoder, X86_SELECT_REG, 8), rm = value_of(encoder, X86_SELECT_RM, 8);
    unsigned sib = (unsigned)random_below(encoder->random, 256);

    put(encoder, mod << 6 | reg << 3 | rm);
    if (mod != 3 && rm == 4)
        put(encoder, sib);
    if (mod == 1)
        put_displacement(encoder, 1);
    else if (mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (sib & 7) == 5))))
        put_displacement(encoder, 4);
}

/* Immediates: even bits, or a small number, which is what counts and sizes want. */
static void put_immediate(struct encoder *encoder)
{
    uint64_t value = random_u64(encoder->random);

    if (random_chance(encoder->random, 1, 2))
        value &= 0x3f;
    memcpy(encoder->bytes + encoder->used, &value, sizeof(value));
    encoder->used += sizeof(value);
}

static void encode(struct encoder *encoder)
{
    struct x86_opcode_root root = x86_opcode_roots[encoder->place->map][encoder->place->opcode];

    if (is_legacy_map(encoder->place->map))
        put_legacy_opcode(encoder);
    else if (is_evex_map(encoder->place->map))
        put_evex_opcode(encoder);
    else
        put_vex_opcode(encoder);
    if (root.modrm_use != X86_MODRM_NONE)
        put_modrm(encoder);
    if (encoder->place->map == X86_MAP_3DNOW)
        put(encoder, encoder->place->opcode);
    put_immediate(encoder);
}

/* Makes operands whose address is in the instruction alone point into the data. */
static void settle_address(uint8_t *bytes, const struct x86_insn *insn, const struct insn_draw *draw,
                           struct random *random)
{
    bool is_absolute = insn->base == X86_GPR_NONE && insn->displacement_size >= 4;
    uint64_t value = draw->data.address + random_below(random, draw->data.size_bytes);

    if (!is_absolute)
        return;
    /* Most want to be aligned. */
    if (random_chance(random, 3, 4))
        value &= ~63ull;
    if (insn->properties & X86_PC_RELATIVE)
        value -= draw->pc + insn->length;
    memcpy(bytes + insn->displacement_offset, &value, insn->displacement_size);
}

bool insn_place_draw(const struct insn_place *place, const struct insn_draw *draw, struct random *random,
                     uint8_t bytes_out[32], struct x86_insn *insn_out)
{
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct encoder encoder = {bytes_out, 0, random, place, attempt % 2 == 1};

        encode(&encoder);
        if (x86_decode(bytes_out, INSN_BUFFER_BYTES, app_pc_of(draw->pc), draw->options, insn_out) != 0 ||
            insn_out->form != &x86_forms[place->form])
            continue;
        settle_address(bytes_out, insn_out, draw, random);
        memset(bytes_out + insn_out->length, 0xcc, INSN_BUFFER_BYTES - insn_out->length);
        if (x86_decode(bytes_out, INSN_BUFFER_BYTES, app_pc_of(draw->pc), draw->options, insn_out) == 0)
            return true;
    }
    return false;
}

void insn_bytes_print(const uint8_t *bytes, size_t count, char *text, size_t text_bytes)
{
    size_t used = 0;

    text[0] = 0;
    for (size_t i = 0; i < count && used + 4 < text_bytes; i++)
        used += (size_t)snprintf(text + used, text_bytes - used, "%s%02x", i == 0 ? "" : " ", bytes[i]);
}
