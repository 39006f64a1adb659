/* SPDX-License-Identifier: MIT */
#include "symbolize/dwarf/dwarf_package.h"

#include "support/check.h"
#include "symbolize/dwarf/dwarf_names.h"

#include <errno.h>

/* Two units in four slots, with four columns. */
static const uint64_t first_id = 0x1111111200000001, second_id = 0x2222222100000001;
static uint32_t words[4 + 8 + 4 + 4 * 5];
static const struct dwarf_sections none = {.info = {.bytes = NULL}};
static struct dwarf_package package;

static void fill(uint16_t version)
{
    static const uint32_t table[5][4] = {
        {DWARF_SECT_INFO, DWARF_SECT_ABBREV, DWARF_SECT_STR_OFFSETS, DWARF_SECT_RNGLISTS},
        {0, 0, 0, 0},
        {100, 200, 300, 400},
        {100, 200, 300, 400},
        {10, 20, 30, 40},
    };

    memset(words, 0, sizeof(words));
    words[0] = version;
    words[1] = 4;
    words[2] = 2;
    words[3] = 4;
    /* Both want slot 1; the second one goes on by 1. */
    memcpy(&words[4 + 2], &first_id, 8);
    memcpy(&words[4 + 4], &second_id, 8);
    words[12 + 1] = 1;
    words[12 + 2] = 2;
    memcpy(&words[16], table, sizeof(table));
}

static int init(size_t size_bytes)
{
    return dwarf_package_init(&package, &none, (struct dwarf_span){(const uint8_t *)words, size_bytes}, &none);
}

static void units_are_found_by_their_numbers(void)
{
    struct dwarf_package_parts parts;

    fill(5);
    CHECK_EQUAL(init(sizeof(words)), 0);
    CHECK_EQUAL(dwarf_package_find(&package, first_id, &parts), 0);
    CHECK(parts.info == 0 && parts.abbrev == 0 && parts.str_offsets == 0 && parts.line == UINT64_MAX);
    CHECK_EQUAL(dwarf_package_find(&package, second_id, &parts), 0);
    CHECK(parts.info == 100 && parts.abbrev == 200 && parts.str_offsets == 300 && parts.rnglists == 400);
    CHECK_EQUAL(dwarf_package_find(&package, second_id + 1, &parts), -ENOENT);
    CHECK_EQUAL(dwarf_package_find(&package, 0x3333333300000001, &parts), -ENOENT);
    dwarf_package_deinit(&package);
    /* There the column means something else. */
    fill(2);
    CHECK_EQUAL(init(sizeof(words)), 0);
    CHECK_EQUAL(dwarf_package_find(&package, second_id, &parts), 0);
    CHECK_EQUAL(parts.rnglists, 0);
    dwarf_package_deinit(&package);
}

static void a_damaged_index_is_refused(void)
{
    fill(5);
    for (size_t i = 0; i < sizeof(words); i += 4)
        CHECK_EQUAL(init(i), -ENOTSUP);
    fill(3);
    CHECK_EQUAL(init(sizeof(words)), -ENOTSUP);
    fill(5);
    words[3] = 3;
    CHECK_EQUAL(init(sizeof(words)), -ENOTSUP);
    fill(5);
    words[2] = UINT32_MAX;
    CHECK_EQUAL(init(sizeof(words)), -ENOTSUP);
}

/* A full table without the number: the search ends. */
static void full_tables_end(void)
{
    struct dwarf_package_parts parts;

    fill(5);
    for (unsigned i = 0; i < 4; i++)
        words[12 + i] = 1;
    CHECK_EQUAL(init(sizeof(words)), 0);
    CHECK_EQUAL(dwarf_package_find(&package, 77, &parts), -ENOENT);
    words[12 + 1] = 99;
    CHECK_EQUAL(dwarf_package_find(&package, first_id, &parts), -ENOENT);
    dwarf_package_deinit(&package);
}

static const struct check_case cases[] = {
    CHECK_CASE(units_are_found_by_their_numbers),
    CHECK_CASE(a_damaged_index_is_refused),
    CHECK_CASE(full_tables_end),
};

CHECK_MAIN(cases)
