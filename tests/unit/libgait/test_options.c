/* SPDX-License-Identifier: MIT */
#include "libgait/options.h"

#include "support/check.h"

#include <errno.h>

struct older {
    size_t size_bytes;
    uint64_t first;
};

struct current {
    size_t size_bytes;
    uint64_t first;
    uint64_t second;
};

struct newer {
    size_t size_bytes;
    uint64_t first;
    uint64_t second;
    uint8_t third[3];
};

static const struct options_type type = {"paint a house", "paint_options", sizeof(struct current)};

static void no_options_are_all_zeroes(void)
{
    struct current read = {1, 2, 3};

    CHECK_EQUAL(options_read(&type, NULL, &read, NULL), 0);
    CHECK_EQUAL(read.size_bytes, sizeof(read));
    CHECK_EQUAL(read.first, 0);
    CHECK_EQUAL(read.second, 0);
}

static void options_are_taken_over(void)
{
    struct current given = {sizeof(given), 5, 6}, read = {0};

    CHECK_EQUAL(options_read(&type, &given, &read, NULL), 0);
    CHECK(memcmp(&given, &read, sizeof(read)) == 0);
}

static void what_an_older_header_does_not_know_is_zero(void)
{
    struct older given = {sizeof(given), 5};
    struct current read = {1, 2, 3};

    CHECK_EQUAL(options_read(&type, &given, &read, NULL), 0);
    CHECK_EQUAL(read.size_bytes, sizeof(read));
    CHECK_EQUAL(read.first, 5);
    CHECK_EQUAL(read.second, 0);
    given.size_bytes = sizeof(size_t);
    CHECK_EQUAL(options_read(&type, &given, &read, NULL), 0);
    CHECK_EQUAL(read.first, 0);
}

static void half_of_a_field_is_taken_as_it_is(void)
{
    struct current given = {offsetof(struct current, second) + 1, 5, 0x0706}, read = {0};

    CHECK_EQUAL(options_read(&type, &given, &read, NULL), 0);
    CHECK_EQUAL(read.second & 0xff, 0x06);
    CHECK_EQUAL(read.second >> 8, 0);
}

static void a_newer_header_is_fine_while_its_fields_are_unset(void)
{
    struct newer given = {.size_bytes = sizeof(given), .first = 5, .second = 6};
    struct current read = {0};

    CHECK_EQUAL(options_read(&type, &given, &read, NULL), 0);
    CHECK_EQUAL(read.size_bytes, sizeof(read));
    CHECK_EQUAL(read.first, 5);
    CHECK_EQUAL(read.second, 6);
}

static void an_unknown_option_is_refused_wherever_it_is(void)
{
    for (size_t i = 0; i < 3; i++) {
        struct newer given = {.size_bytes = offsetof(struct newer, third) + 3};
        struct current read = {1, 2, 3};
        struct gait_error err = {0};

        given.third[i] = 1;
        CHECK_EQUAL(options_read(&type, &given, &read, &err), -EINVAL);
        CHECK_EQUAL(err.code, EINVAL);
        CHECK_TEXT(err.text, "cannot paint a house: an option is set that this version of gait does not know; use the "
                             "library that belongs to the header");
        CHECK_EQUAL(read.size_bytes, 1);
        CHECK_EQUAL(read.first, 2);
        CHECK_EQUAL(read.second, 3);
    }
}

static void a_struct_without_a_size_is_refused(void)
{
    for (size_t size = 0; size < sizeof(size_t); size++) {
        struct current given = {size, 5, 6}, read = {1, 2, 3};
        struct gait_error err = {0};
        char expected[200];

        CHECK_EQUAL(options_read(&type, &given, &read, &err), -EINVAL);
        snprintf(expected, sizeof(expected),
                 "cannot paint a house: size_bytes of the options is %zu; set it to sizeof(struct paint_options)",
                 size);
        CHECK_TEXT(err.text, expected);
        CHECK_EQUAL(read.size_bytes, 1);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(no_options_are_all_zeroes),
    CHECK_CASE(options_are_taken_over),
    CHECK_CASE(what_an_older_header_does_not_know_is_zero),
    CHECK_CASE(half_of_a_field_is_taken_as_it_is),
    CHECK_CASE(a_newer_header_is_fine_while_its_fields_are_unset),
    CHECK_CASE(an_unknown_option_is_refused_wherever_it_is),
    CHECK_CASE(a_struct_without_a_size_is_refused),
};

CHECK_MAIN(cases)
