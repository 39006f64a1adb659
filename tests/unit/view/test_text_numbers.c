/* SPDX-License-Identifier: MIT */
#include "view/text_numbers.h"

#include "support/check.h"

#include <stdio.h>

static size_t number_of(struct text_numbers *numbers, const char *text)
{
    size_t number = SIZE_MAX;

    CHECK_EQUAL(text_numbers_obtain(numbers, text, &number), 0);
    return number;
}

static void texts_are_numbered_as_they_come(void)
{
    struct text_numbers numbers;

    CHECK_EQUAL(text_numbers_init(&numbers), 0);
    CHECK_EQUAL(number_of(&numbers, "one"), 0);
    CHECK_EQUAL(number_of(&numbers, ""), 1);
    CHECK_EQUAL(number_of(&numbers, "one"), 0);
    CHECK_EQUAL(number_of(&numbers, ""), 1);
    CHECK_TEXT(text_numbers_at(&numbers, 0), "one");
    CHECK_EQUAL(numbers.count, 2);
    text_numbers_deinit(&numbers);
}

static void there_may_be_many(void)
{
    struct text_numbers numbers;
    char text[32];

    CHECK_EQUAL(text_numbers_init(&numbers), 0);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < 5000; i++) {
            snprintf(text, sizeof(text), "text %zu", i);
            CHECK_EQUAL(number_of(&numbers, text), i);
        }
    CHECK_TEXT(text_numbers_at(&numbers, 4999), "text 4999");
    text_numbers_deinit(&numbers);
}

static const struct check_case cases[] = {
    CHECK_CASE(texts_are_numbered_as_they_come),
    CHECK_CASE(there_may_be_many),
};

CHECK_MAIN(cases)
