/* SPDX-License-Identifier: MIT */
#include "symbolize/named_code.h"

#include "support/check.h"

static struct named_code code;

static void add(uint64_t begin, uint64_t end, uint64_t time, const char *name)
{
    CHECK_EQUAL(
        named_code_add(&code, &(struct named_range){.begin = begin, .end = end, .time = time}, name, strlen(name)), 0);
}

static void expect(uint64_t address, uint64_t time, const char *name)
{
    const struct named_range *range = named_code_find(&code, address, time);

    CHECK_TEXT(range == NULL ? "" : named_code_name(&code, range), name);
}

static void later_names_come_in_place_of_earlier_ones(void)
{
    named_code_init(&code);
    add(0x1000, 0x2000, 5, "first");
    add(0x1800, 0x1900, 9, "second");
    add(0x1800, 0x1900, 7, "between");
    add(0x3000, 0x2000, 1, "backwards");
    named_code_finish(&code);
    expect(0x1000, 4, "");
    expect(0x1000, 5, "first");
    expect(0x1800, 6, "first");
    expect(0x1800, 7, "between");
    expect(0x18ff, UINT64_MAX, "second");
    expect(0x1900, UINT64_MAX, "first");
    expect(0x2000, UINT64_MAX, "");
    expect(0xfff, UINT64_MAX, "");
    named_code_deinit(&code);
}

static void those_without_an_end_go_on_to_the_next(void)
{
    named_code_init(&code);
    add(0x2000, 0, 0, "second");
    add(0x1000, 0, 0, "first");
    add(0x1000, 0, 0, "alias");
    named_code_finish(&code);
    expect(0x1fff, 0, "alias");
    expect(0x2000, 0, "second");
    expect(UINT64_MAX - 1, 0, "second");
    named_code_deinit(&code);
}

static void nothing_has_no_names(void)
{
    named_code_init(&code);
    named_code_finish(&code);
    expect(0, 0, "");
    named_code_deinit(&code);
}

static const struct check_case cases[] = {
    CHECK_CASE(later_names_come_in_place_of_earlier_ones),
    CHECK_CASE(those_without_an_end_go_on_to_the_next),
    CHECK_CASE(nothing_has_no_names),
};

CHECK_MAIN(cases)
