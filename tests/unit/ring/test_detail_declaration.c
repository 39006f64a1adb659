/* SPDX-License-Identifier: MIT */
#include "ring/detail_declaration.h"

#include "support/check.h"

static void numbers_and_floats_have_registers_of_their_own(void)
{
    struct detail_places places = {0};

    CHECK_EQUAL(detail_places_next(&places), 0);
    CHECK_EQUAL(detail_places_next_vector(&places), DETAIL_PLACE_VECTOR);
    CHECK_EQUAL(detail_places_next(&places), 1);
    CHECK_EQUAL(detail_places_next_vector(&places), DETAIL_PLACE_VECTOR + 1);
    for (unsigned i = 2; i < 6; i++)
        CHECK_EQUAL(detail_places_next(&places), i);
    CHECK_EQUAL(detail_places_next(&places), DETAIL_PLACE_STACK);
    for (unsigned i = 2; i < 8; i++)
        CHECK_EQUAL(detail_places_next_vector(&places), DETAIL_PLACE_VECTOR + i);
    CHECK_EQUAL(detail_places_next_vector(&places), DETAIL_PLACE_STACK + 1);
    CHECK_EQUAL(detail_places_next(&places), DETAIL_PLACE_STACK + 2);
}

/* As a struct of two words does that is passed by value. */
static void what_does_not_fit_into_registers_is_on_the_stack_as_a_whole(void)
{
    struct detail_places places = {0};

    for (unsigned i = 0; i < 5; i++)
        (void)detail_places_next(&places);
    detail_places_pass(&places, 2, 0);
    CHECK_EQUAL(detail_places_next(&places), 5);
    CHECK_EQUAL(detail_places_next(&places), DETAIL_PLACE_STACK + 2);
    detail_places_pass(&places, 0, 2);
    CHECK_EQUAL(detail_places_next_vector(&places), DETAIL_PLACE_VECTOR + 2);
    detail_places_pass_stack(&places, 4);
    CHECK_EQUAL(detail_places_next(&places), DETAIL_PLACE_STACK + 7);
}

static void what_is_far_up_has_no_place(void)
{
    struct detail_places places = {.registers = 6};

    detail_places_pass_stack(&places, 222);
    CHECK_EQUAL(detail_places_next(&places), DETAIL_PLACE_NONE - 1);
    CHECK_EQUAL(detail_places_next(&places), DETAIL_PLACE_NONE);
    detail_places_pass_stack(&places, UINT32_MAX);
    CHECK_EQUAL(detail_places_next(&places), DETAIL_PLACE_NONE);
}

static void vectors_are_asked_for_only_where_they_are_needed(void)
{
    struct detail_declaration declaration = {
        .is_given = 1,
        .count = 2,
        .fields = {{DETAIL_TYPE_I32, 0, 0}, {DETAIL_TYPE_DOUBLE, DETAIL_PLACE_STACK, 0}},
    };

    CHECK(!detail_declaration_has_vectors(&declaration, false));
    CHECK(!detail_declaration_has_vectors(&declaration, true));
    declaration.fields[1].place = DETAIL_PLACE_VECTOR + 7;
    CHECK(detail_declaration_has_vectors(&declaration, false));
    declaration.result = (struct detail_field){DETAIL_TYPE_FLOAT, DETAIL_PLACE_VECTOR, 0};
    CHECK(detail_declaration_has_vectors(&declaration, true));
}

static const struct check_case cases[] = {
    CHECK_CASE(numbers_and_floats_have_registers_of_their_own),
    CHECK_CASE(what_does_not_fit_into_registers_is_on_the_stack_as_a_whole),
    CHECK_CASE(what_is_far_up_has_no_place),
    CHECK_CASE(vectors_are_asked_for_only_where_they_are_needed),
};

CHECK_MAIN(cases)
