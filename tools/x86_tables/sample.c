/* SPDX-License-Identifier: MIT */
/* Turns a point in the space of encodings into bytes. The fields are written as they are, so that also what no CPU
 * accepts can be asked about. */
#include "sample.h"

#include <string.h>

struct cursor {
    uint8_t *bytes;
    size_t used;
};

static void put(struct cursor *cursor, uint8_t byte)
{
    cursor->bytes[cursor->used++] = byte;
}

static void put_legacy_prefixes(struct cursor *cursor, const struct sample *sample)
{
    if (sample->lock)
        put(cursor, 0xf0);
    if (sample->prefix_67)
        put(cursor, 0x67);
    if (sample->prefix_fs)
        put(cursor, 0x64);
    if (sample->prefix_66)
        put(cursor, 0x66);
    if (sample->prefix_f3)
        put(cursor, 0xf3);
    if (sample->prefix_f2)
        put(cursor, 0xf2);
}

static void put_legacy_opcode(struct cursor *cursor, const struct sample *sample)
{
    uint8_t rex = (uint8_t)(0x40 | sample->w << 3 | sample->r << 2 | sample->x << 1 | sample->b);

    if (rex != 0x40)
        put(cursor, rex);
    if (sample->map >= 1)
        put(cursor, 0x0f);
    if (sample->map == 2)
        put(cursor, 0x38);
    if (sample->map == 3)
        put(cursor, 0x3a);
    put(cursor, sample->encoding == SAMPLE_3DNOW ? 0x0f : sample->opcode);
}

static void put_vex_opcode(struct cursor *cursor, const struct sample *sample)
{
    put(cursor, sample->encoding == SAMPLE_XOP ? 0x8f : 0xc4);
    put(cursor, (uint8_t)(!sample->r << 7 | !sample->x << 6 | !sample->b << 5 | sample->map));
    put(cursor, (uint8_t)(sample->w << 7 | (~sample->vvvv & 15) << 3 | (sample->length & 1) << 2 | sample->pp));
    put(cursor, sample->opcode);
}

static void put_evex_opcode(struct cursor *cursor, const struct sample *sample)
{
    put(cursor, 0x62);
    put(cursor, (uint8_t)(!sample->r << 7 | !sample->x << 6 | !sample->b << 5 | !sample->r_high << 4 | sample->map));
    put(cursor, (uint8_t)(sample->w << 7 | (~sample->vvvv & 15) << 3 | 1 << 2 | sample->pp));
    put(cursor,
        (uint8_t)(sample->z << 7 | sample->length << 5 | sample->broadcast << 4 | !sample->v_high << 3 | sample->aaa));
    put(cursor, sample->opcode);
}

static void put_opcode(struct cursor *cursor, const struct sample *sample)
{
    switch (sample->encoding) {
    case SAMPLE_LEGACY:
    case SAMPLE_3DNOW:
        put_legacy_opcode(cursor, sample);
        break;
    case SAMPLE_VEX:
    case SAMPLE_XOP:
        put_vex_opcode(cursor, sample);
        break;
    case SAMPLE_EVEX:
        put_evex_opcode(cursor, sample);
        break;
    }
}

void sample_encode(const struct sample *sample, uint8_t bytes[SAMPLE_SIZE])
{
    struct cursor cursor = {bytes, 0};

    memset(bytes, SAMPLE_FILLER, SAMPLE_SIZE);
    put_legacy_prefixes(&cursor, sample);
    put_opcode(&cursor, sample);
    if (sample->no_modrm)
        return;
    put(&cursor, (uint8_t)(sample->mod << 6 | sample->reg << 3 | sample->rm));
    if (sample->mod != 3 && sample->rm == 4)
        put(&cursor, sample->sib);
    if (sample->encoding == SAMPLE_3DNOW) {
        /* The opcode stands behind the displacement. */
        if (sample->mod == 1)
            put(&cursor, SAMPLE_FILLER);
        if (sample->mod == 2 || (sample->mod == 0 && sample->rm == 5))
            cursor.used += 4;
        put(&cursor, sample->opcode);
    }
}
