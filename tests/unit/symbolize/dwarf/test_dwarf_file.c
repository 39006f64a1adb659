/* SPDX-License-Identifier: MIT */
#include "symbolize/dwarf/dwarf_file.h"

#include "support/check.h"
#include "support/own_dwarf.h"
#include "symbolize/dwarf/dwarf_names.h"

static struct dwarf_file file;

static void units_of_all_versions_are_found(void)
{
    /* DWARF 4, then 5, then 5 with places of eight bytes, then a piece of one. */
    static const uint8_t info[] = {
        8, 0, 0, 0, 4,    0,    0x20, 0,    0,  0, 8, 0, 9, 0, 0, 0, 5, 0, DWARF_UT_PARTIAL, 8, 0x40,
        0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 13, 0, 0, 0, 0, 0, 0, 0, 5, 0, DWARF_UT_COMPILE, 8, 0x60,
        0, 0, 0, 0, 0,    0,    0,    0,    50, 0, 0, 0, 4, 0,
    };
    const struct dwarf_sections sections = {.info = {info, sizeof(info)}};

    CHECK_EQUAL(dwarf_file_init(&file, &sections, NULL), 0);
    CHECK_EQUAL(file.unit_count, 3);
    CHECK_EQUAL(file.units[0].first_entry, 11);
    CHECK_EQUAL(file.units[0].abbreviations, 0x20);
    CHECK_EQUAL(file.units[0].type, DWARF_UT_COMPILE);
    CHECK_EQUAL(file.units[1].begin, 12);
    CHECK_EQUAL(file.units[1].type, DWARF_UT_PARTIAL);
    CHECK_EQUAL(file.units[2].abbreviations, 0x60);
    CHECK_EQUAL(file.units[2].sizes.offset_bytes, 8);
    CHECK(dwarf_file_unit(&file, 0) == &file.units[0]);
    CHECK(dwarf_file_unit(&file, 11) == &file.units[0]);
    CHECK(dwarf_file_unit(&file, 12) == &file.units[1]);
    CHECK(dwarf_file_unit(&file, file.units[2].end) == NULL);
    dwarf_file_deinit(&file);
}

static void units_of_a_program_fill_the_section(void)
{
    struct own_dwarf own;

    own_dwarf_open(&own, NULL);
    CHECK(own.dwarf.unit_count > 10);
    CHECK_EQUAL(own.dwarf.units[own.dwarf.unit_count - 1].end, own.sections.info.size_bytes);
    own_dwarf_close(&own);
}

static void sections_have_names(void)
{
    struct dwarf_sections sections;

    CHECK(dwarf_sections_by_name(&sections, ".debug_info") == &sections.info);
    CHECK(dwarf_sections_by_name(&sections, ".zdebug_line_str") == &sections.line_str);
    CHECK(dwarf_sections_by_name(&sections, ".debug_frame") == NULL);
    CHECK(dwarf_sections_by_name(&sections, ".text") == NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(units_of_all_versions_are_found),
    CHECK_CASE(units_of_a_program_fill_the_section),
    CHECK_CASE(sections_have_names),
};

CHECK_MAIN(cases)
