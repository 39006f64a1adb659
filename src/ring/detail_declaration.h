/* SPDX-License-Identifier: MIT */
/*
 * What the arguments of a function are and where they stand when it is entered, and what it returns: how the controller
 * says what the agent captures, and how a reader understands registers that were. The places are those that the
 * machine's calling convention gives to arguments one after the other. No locks, no libc; usable anywhere.
 */
#ifndef GAIT_RING_DETAIL_DECLARATION_H
#define GAIT_RING_DETAIL_DECLARATION_H

#include "ring/detail_value.h"

#include <stdbool.h>
#include <stdint.h>

#define DETAIL_FIELDS_MAX 12u

/* Where a value is: below DETAIL_PLACE_VECTOR the number of a register for arguments, or of results. */
#define DETAIL_PLACE_VECTOR 16u  /* and more: of a vector register */
#define DETAIL_PLACE_STACK  32u  /* and more: of a word of the stack, from the one behind the return address on */
#define DETAIL_PLACE_NONE   255u /* nowhere that could be described */

#define DETAIL_VECTORS      8u

/* In detail_field.size: the rest is the number of the argument that has the size, from 0 on. */
#define DETAIL_SIZE_IN_ARGUMENT 0x8000u

struct detail_field {
    uint8_t type;  /* enum detail_type */
    uint8_t place; /* as above */
    uint16_t size; /* of buffers; of strings, how much is taken at most, 0: as is usual */
};

/* All zero: there is none. */
struct detail_declaration {
    uint8_t is_given;
    uint8_t has_errno;  /* a result that is -1, or a pointer that is 0, means that errno says more */
    uint8_t is_partial; /* there are more arguments than these */
    uint8_t count;
    struct detail_field result; /* DETAIL_TYPE_SKIPPED: none */
    struct detail_field fields[DETAIL_FIELDS_MAX];
};

_Static_assert(sizeof(struct detail_declaration) == 56, "as both sides have it");

/* Which places are taken so far. All zero: none. */
struct detail_places {
    uint8_t registers;
    uint8_t vectors;
    uint32_t stack_words;
};

/* The place of the next argument, a number or pointer. */
uint8_t detail_places_next(struct detail_places *places);

/* Of the next one, a float or double. */
uint8_t detail_places_next_vector(struct detail_places *places);

/* The next argument stands in that many registers of each kind, if there are so many left, else on the stack. */
void detail_places_pass(struct detail_places *places, unsigned registers, unsigned vectors);

/* The next one takes so many words of the stack. */
void detail_places_pass_stack(struct detail_places *places, uint32_t words);

/* Whether something in it stands in vector registers, of the arguments or as the result. */
bool detail_declaration_has_vectors(const struct detail_declaration *declaration, bool is_result);

#endif
