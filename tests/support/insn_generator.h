/* SPDX-License-Identifier: MIT */
/*
 * Draws encodings of every instruction form that the x86-64 decoder's tables know. A place is one path through the
 * tables: an opcode and the selector values that lead to a form. All else in an encoding (registers, addresses,
 * immediates, prefixes that change nothing) is drawn at random, so that a form is met in all its shapes.
 *
 * The walk allocates; drawing does not, and depends on its random source alone.
 */
#ifndef GAIT_TESTS_INSN_GENERATOR_H
#define GAIT_TESTS_INSN_GENERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/x86_64/isa/decoder.h"
#include "support/arena.h"

struct random;

struct insn_place {
    uint8_t map;
    uint8_t opcode;
    uint16_t form;    /* its number in x86_forms */
    uint16_t decided; /* bit n: selector n has the value below; the others make no difference */
    uint8_t values[X86_SELECTOR_COUNT];
};

struct insn_places {
    struct insn_place *list;
    size_t count;
};

/* Finds all places. -ENOMEM. */
int insn_places_init(struct insn_places *places) __attribute__((warn_unused_result));
void insn_places_deinit(struct insn_places *places);

struct insn_draw {
    uint64_t pc;            /* where it will stand */
    struct arena_span data; /* what absolute and pc-relative operands point into */
    unsigned options;       /* for x86_decode */
};

/*
 * Draws an instruction of the place that the decoder accepts, with 0xcc behind it in the 32 bytes. False if a hundred
 * attempts were in vain.
 */
bool insn_place_draw(const struct insn_place *place, const struct insn_draw *draw, struct random *random,
                     uint8_t bytes_out[32], struct x86_insn *insn_out);

/* "66 0f 38 f6 c1" of the instruction's own bytes. */
void insn_bytes_print(const uint8_t *bytes, size_t count, char *text, size_t text_bytes);

#endif
