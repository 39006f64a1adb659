/* SPDX-License-Identifier: MIT */
#include "symbolize/code_units.h"

#include "support/check.h"
#include "symbolize/code_table_builder.h"
#include "symbolize/dwarf/dwarf_code.h"

#include <errno.h>

static const struct dwarf_range ranges[] = {
    {0x3000, 0x3100, 77}, {0x1000, 0x2000, 12}, {0x1800, 0x1900, 40}, {0x3000, 0x3100, 77}, {0x5000, 0x5001, 12},
};

static void expect(const struct code_units *units, uint64_t address, const char *names)
{
    char text[64] = "";
    struct code_unit *unit;
    size_t cursor = 0;

    while ((unit = code_units_next(units, address, &cursor)) != NULL) {
        size_t used = strlen(text);

        snprintf(text + used, sizeof(text) - used, "%" PRIu64 " ", unit->unit);
    }
    CHECK_TEXT(text, names);
}

static void units_are_found_by_their_code(void)
{
    struct code_units units;

    CHECK_EQUAL(code_units_make(&units, ranges, sizeof(ranges) / sizeof(ranges[0])), 0);
    CHECK_EQUAL(units.unit_count, 3);
    CHECK_EQUAL(units.range_count, 4);
    expect(&units, 0xfff, "");
    expect(&units, 0x1000, "12 ");
    expect(&units, 0x1850, "40 12 ");
    expect(&units, 0x1fff, "12 ");
    expect(&units, 0x2000, "");
    expect(&units, 0x30ff, "77 ");
    expect(&units, 0x5000, "12 ");
    expect(&units, 0x5001, "");
    expect(&units, UINT64_MAX, "");
    code_units_deinit(&units);
}

static void others_are_told_apart(void)
{
    struct dwarf_range changed[5];
    struct code_units left, right;

    memcpy(changed, ranges, sizeof(changed));
    CHECK_EQUAL(code_units_make(&left, ranges, 5), 0);
    CHECK_EQUAL(code_units_make(&right, changed, 5), 0);
    CHECK(code_units_are_same(&left, &right));
    code_units_deinit(&right);
    changed[4].end++;
    CHECK_EQUAL(code_units_make(&right, changed, 5), 0);
    CHECK(!code_units_are_same(&left, &right));
    code_units_deinit(&right);
    changed[4].end--;
    changed[2].unit = 41;
    CHECK_EQUAL(code_units_make(&right, changed, 5), 0);
    CHECK(!code_units_are_same(&left, &right));
    code_units_deinit(&right);
    CHECK_EQUAL(code_units_make(&right, NULL, 0), 0);
    CHECK(!code_units_are_same(&left, &right));
    expect(&right, 0x1000, "");
    code_units_deinit(&right);
    code_units_deinit(&left);
}

static void tables_are_looked_at_first(void)
{
    struct code_table_builder builder;
    struct code_units units;
    size_t size_bytes;
    void *block;

    CHECK_EQUAL(code_units_make(&units, ranges, 5), 0);
    code_table_builder_init(&builder);
    CHECK_EQUAL(code_table_builder_finish(&builder, &block, &size_bytes), 0);
    code_table_builder_deinit(&builder);
    CHECK_EQUAL(code_unit_set_table(&units.units[1], block, size_bytes - 1), -EPROTO);
    CHECK_EQUAL(units.units[1].state, CODE_UNIT_NEW);
    CHECK_EQUAL(code_unit_set_table(&units.units[1], block, size_bytes), 0);
    CHECK_EQUAL(units.units[1].state, CODE_UNIT_READY);
    code_units_deinit(&units);
}

static const struct check_case cases[] = {
    CHECK_CASE(units_are_found_by_their_code),
    CHECK_CASE(others_are_told_apart),
    CHECK_CASE(tables_are_looked_at_first),
};

CHECK_MAIN(cases)
