/* SPDX-License-Identifier: MIT */
#include "ring/detail_declaration.h"

#include "ring/detail_record.h"

/* Arguments that stand farther up are not told. */
#define STACK_WORDS_MAX (DETAIL_PLACE_NONE - DETAIL_PLACE_STACK)

static uint8_t next_stack_word(struct detail_places *places)
{
    uint32_t word = places->stack_words;

    detail_places_pass_stack(places, 1);
    return word < STACK_WORDS_MAX ? (uint8_t)(DETAIL_PLACE_STACK + word) : DETAIL_PLACE_NONE;
}

uint8_t detail_places_next(struct detail_places *places)
{
    return places->registers < DETAIL_ARGUMENTS ? places->registers++ : next_stack_word(places);
}

uint8_t detail_places_next_vector(struct detail_places *places)
{
    return places->vectors < DETAIL_VECTORS ? (uint8_t)(DETAIL_PLACE_VECTOR + places->vectors++)
                                            : next_stack_word(places);
}

/* What does not fit into the registers that are left is on the stack as a whole. */
void detail_places_pass(struct detail_places *places, unsigned registers, unsigned vectors)
{
    if (places->registers + registers > DETAIL_ARGUMENTS || places->vectors + vectors > DETAIL_VECTORS) {
        detail_places_pass_stack(places, registers + vectors);
        return;
    }
    places->registers = (uint8_t)(places->registers + registers);
    places->vectors = (uint8_t)(places->vectors + vectors);
}

void detail_places_pass_stack(struct detail_places *places, uint32_t words)
{
    uint32_t left = STACK_WORDS_MAX - places->stack_words;

    places->stack_words += words < left ? words : left;
}

static bool is_in_vector(const struct detail_field *field)
{
    return field->type != DETAIL_TYPE_SKIPPED && field->place >= DETAIL_PLACE_VECTOR &&
           field->place < DETAIL_PLACE_VECTOR + DETAIL_VECTORS;
}

bool detail_declaration_has_vectors(const struct detail_declaration *declaration, bool is_result)
{
    if (is_result)
        return is_in_vector(&declaration->result);
    for (unsigned i = 0; i < declaration->count && i < DETAIL_FIELDS_MAX; i++)
        if (is_in_vector(&declaration->fields[i]))
            return true;
    return false;
}
