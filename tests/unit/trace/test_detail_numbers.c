/* SPDX-License-Identifier: MIT */
#include "trace/detail_numbers.h"

#include "support/check.h"
#include "trace/detail_text.h"

static char shown[DETAIL_TEXT_BYTES];
static uint8_t bytes[DETAIL_NUMBERS_BYTES];

static const char *show(struct detail_values values)
{
    struct detail_text text;

    CHECK(values.size_bytes <= sizeof(bytes));
    detail_text_init(&text, shown, sizeof(shown));
    detail_text_put_arguments(&text, values, NULL);
    return shown;
}

static void registers_and_the_stack_have_numbers(void)
{
    const struct detail_declaration declaration = {
        .is_given = 1,
        .count = 7,
        .fields = {{DETAIL_TYPE_I32, 0, 0},
                   {DETAIL_TYPE_STRING, 1, 0},
                   {DETAIL_TYPE_DOUBLE, DETAIL_PLACE_VECTOR, 0},
                   {DETAIL_TYPE_I16, DETAIL_PLACE_STACK, 0},
                   {DETAIL_TYPE_U64, DETAIL_PLACE_STACK + 1, 0},
                   {DETAIL_TYPE_SKIPPED, DETAIL_PLACE_NONE, 0},
                   {DETAIL_TYPE_U8, DETAIL_PLACE_NONE, 0}},
    };
    struct detail_enter enter = {.arguments = {0xffffffff, 0x1234}, .stack_bytes = 16};
    const uint64_t stack[] = {0x401000, 0xfffe, 77};

    CHECK_TEXT(show(detail_numbers_arguments(&declaration, &enter, (const uint8_t *)stack, bytes)),
               "-1, 0x1234, ?, -2, ?, _, ?");
    enter.stack_bytes = 24;
    CHECK_TEXT(show(detail_numbers_arguments(&declaration, &enter, (const uint8_t *)stack, bytes)),
               "-1, 0x1234, ?, -2, 77, _, ?");
    enter.stack_bytes = 0;
    CHECK_TEXT(show(detail_numbers_arguments(&declaration, &enter, NULL, bytes)), "-1, 0x1234, ?, ?, ?, _, ?");
}

static void all_that_can_be_declared_fits(void)
{
    struct detail_declaration declaration = {.is_given = 1, .count = DETAIL_FIELDS_MAX};
    const struct detail_enter enter = {.arguments = {1, 2, 3, 4, 5, 6}};

    for (unsigned i = 0; i < DETAIL_FIELDS_MAX; i++)
        declaration.fields[i] = (struct detail_field){DETAIL_TYPE_U64, (uint8_t)(i % 6), 0};
    CHECK_TEXT(show(detail_numbers_arguments(&declaration, &enter, NULL, bytes)), "1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6");
}

static void results_are_in_a_register(void)
{
    struct detail_declaration declaration = {.is_given = 1, .result = {DETAIL_TYPE_I32, 0, 0}};
    struct detail_leave leave = {.record = {.kind = DETAIL_LEAVE}, .value = 0xfffffffe};

    CHECK_TEXT(show(detail_numbers_result(&declaration, &leave, bytes)), "-2");
    leave.record.kind = DETAIL_LEFT;
    CHECK_TEXT(show(detail_numbers_result(&declaration, &leave, bytes)), "");
    leave.record.kind = DETAIL_LEAVE;
    declaration.result = (struct detail_field){DETAIL_TYPE_DOUBLE, DETAIL_PLACE_VECTOR, 0};
    CHECK_TEXT(show(detail_numbers_result(&declaration, &leave, bytes)), "?");
    declaration.result.type = DETAIL_TYPE_SKIPPED;
    CHECK_TEXT(show(detail_numbers_result(&declaration, &leave, bytes)), "");
}

static const struct check_case cases[] = {
    CHECK_CASE(registers_and_the_stack_have_numbers),
    CHECK_CASE(all_that_can_be_declared_fits),
    CHECK_CASE(results_are_in_a_register),
};

CHECK_MAIN(cases)
