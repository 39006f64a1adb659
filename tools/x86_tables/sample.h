/* SPDX-License-Identifier: MIT */
/*
 * A point in the space of instruction encodings: every field that can change what an instruction means, by name. The
 * tool walks this space, asks an oracle about each point and condenses the answers into the decoder's tables.
 */
#ifndef GAIT_TOOLS_X86_TABLES_SAMPLE_H
#define GAIT_TOOLS_X86_TABLES_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sample_encoding {
    SAMPLE_LEGACY,
    SAMPLE_3DNOW,
    SAMPLE_VEX,
    SAMPLE_XOP,
    SAMPLE_EVEX,
};

struct sample {
    enum sample_encoding encoding;
    uint8_t map; /* as the encoding counts: 0..3 for legacy, mmmmm otherwise */
    uint8_t opcode;
    bool lock, prefix_66, prefix_f3, prefix_f2, prefix_67, prefix_fs;
    uint8_t pp, w, r, x, b, r_high, v_high, vvvv, length, broadcast, aaa, z;
    uint8_t mod, reg, rm, sib;
    bool no_modrm;
};

/* Bytes that follow the part that a sample speaks of: displacements and immediates; 1 shows scaled displacements. */
#define SAMPLE_FILLER 0x01
#define SAMPLE_SIZE   32

/* Writes the sample's instruction, filled up with SAMPLE_FILLER. */
void sample_encode(const struct sample *sample, uint8_t bytes[SAMPLE_SIZE]);

#endif
