/* SPDX-License-Identifier: MIT */
#include "symbolize/dwarf/dwarf_range_list.h"

#include "support/check.h"
#include "support/own_dwarf.h"

static void only_code_that_is_there_is_taken(void)
{
    static const struct dwarf_extent extent = {0x1000, 0x2000, 0x100};
    struct dwarf_range_list list = {.count = 0};

    CHECK_EQUAL(dwarf_range_list_add(&list, &extent, (struct dwarf_range){0xf00, 0x1000, 1}), 0);
    CHECK_EQUAL(dwarf_range_list_add(&list, &extent, (struct dwarf_range){0, 0x1000, 2}), 0);
    CHECK_EQUAL(dwarf_range_list_add(&list, &extent, (struct dwarf_range){0x1000, 0x1000, 3}), 0);
    CHECK_EQUAL(dwarf_range_list_add(&list, &extent, (struct dwarf_range){0x1000, 0x2000, 4}), 0);
    CHECK_EQUAL(dwarf_range_list_add(&list, &extent, (struct dwarf_range){0x1000, 0x900, 5}), 0);
    CHECK_EQUAL(list.count, 1);
    CHECK(list.ranges[0].begin == 0x1000 && list.ranges[0].end == 0x1100 && list.ranges[0].unit == 1);
    free(list.ranges);
}

static size_t count_at(const struct dwarf_range_list *list, uint64_t address)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++)
        count += list->ranges[i].begin <= address && address < list->ranges[i].end;
    return count;
}

static void this_program_is_in_its_units(void)
{
    struct dwarf_range_list list = {.count = 0};
    struct own_dwarf own;

    own_dwarf_open(&own, NULL);
    CHECK_EQUAL(dwarf_range_list_read(&list, &own.dwarf, &own.extent), 0);
    CHECK(list.count >= 10);
    CHECK_EQUAL(count_at(&list, own_dwarf_place((const void *)this_program_is_in_its_units)), 1);
    CHECK_EQUAL(count_at(&list, own_dwarf_place((const void *)dwarf_range_list_read)), 1);
    free(list.ranges);
    own_dwarf_close(&own);
}

/* Units that do not say which code they have: a table does. */
static void a_table_stands_in(void)
{
    static const uint8_t info[] = {8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1}, abbrev[] = {1, 0x11, 0, 0, 0, 0};
    static const uint8_t aranges[] = {44,   0, 0, 0, 2, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0,
                                      0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0, 0, 0, 0};
    static const struct dwarf_extent extent = {0x1000, 0x2000, 0};
    const struct dwarf_sections sections = {
        .info = {info, sizeof(info)}, .abbrev = {abbrev, sizeof(abbrev)}, .aranges = {aranges, sizeof(aranges)}};
    struct dwarf_range_list list = {.count = 0};
    struct dwarf_file file;

    CHECK_EQUAL(dwarf_file_init(&file, &sections, NULL), 0);
    CHECK_EQUAL(dwarf_range_list_read(&list, &file, &extent), 0);
    CHECK_EQUAL(list.count, 1);
    CHECK(list.count == 1 && list.ranges[0].begin == 0x1000 && list.ranges[0].end == 0x1040 &&
          list.ranges[0].unit == 11);
    free(list.ranges);
    dwarf_file_deinit(&file);
}

static const struct check_case cases[] = {
    CHECK_CASE(only_code_that_is_there_is_taken),
    CHECK_CASE(this_program_is_in_its_units),
    CHECK_CASE(a_table_stands_in),
};

CHECK_MAIN(cases)
