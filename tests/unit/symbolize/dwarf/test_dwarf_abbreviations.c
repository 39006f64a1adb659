/* SPDX-License-Identifier: MIT */
#include "symbolize/dwarf/dwarf_abbreviations.h"

#include "support/check.h"
#include "symbolize/dwarf/dwarf_names.h"

#include <errno.h>

static struct dwarf_abbreviations table;

static int read_bytes(const uint8_t *bytes, size_t size_bytes, uint64_t last)
{
    const struct dwarf_abbreviations_wanted wanted = {{bytes, size_bytes}, 0, {4, 8, 4}, last};

    return dwarf_abbreviations_read(&table, &wanted);
}

static void entries_are_found_by_number(void)
{
    static const uint8_t bytes[] = {
        1,
        DWARF_TAG_SUBPROGRAM,
        1,
        DWARF_AT_SIBLING,
        DWARF_FORM_REF4,
        DWARF_AT_NAME,
        DWARF_FORM_STRP,
        0x12,
        DWARF_FORM_DATA8,
        0x31,
        DWARF_FORM_REF_UDATA,
        0,
        0, /* high_pc, abstract_origin */
        2,
        0x05,
        0,
        DWARF_AT_NAME,
        DWARF_FORM_STRING,
        DWARF_AT_DECL_LINE,
        DWARF_FORM_IMPLICIT_CONST,
        0x7f,
        0,
        0,
        0,
        99,
    };
    const struct dwarf_abbreviation *entry;

    CHECK_EQUAL(read_bytes(bytes, sizeof(bytes), 0), 0);
    CHECK_EQUAL(table.read_bytes, sizeof(bytes) - 1);
    entry = &table.entries[1];
    CHECK(entry->is_known && entry->has_children && entry->kind == DWARF_KIND_FUNCTION);
    CHECK_EQUAL(entry->attribute_count, 4);
    CHECK_EQUAL(table.attributes[entry->first_attribute + 2].field, DWARF_FIELD_HIGH_PC);
    CHECK_EQUAL(table.steps[entry->first_step].kind, DWARF_STEP_SIBLING);
    /* 4 and 8 bytes behind each other are one step. */
    CHECK_EQUAL(table.steps[entry->first_step + 1].kind, DWARF_STEP_BYTES);
    CHECK_EQUAL(table.steps[entry->first_step + 1].size_bytes, 12);
    CHECK_EQUAL(table.steps[entry->first_step + 2].kind, DWARF_STEP_LEB);
    CHECK_EQUAL(table.steps[entry->first_step + 3].kind, DWARF_STEP_END);
    entry = &table.entries[2];
    CHECK(entry->is_known && !entry->has_children && entry->kind == DWARF_KIND_OTHER);
    CHECK_EQUAL(table.attributes[entry->first_attribute + 1].constant, -1);
    CHECK(!table.entries[3].is_known);
    dwarf_abbreviations_deinit(&table);
    /* Only what is wanted. */
    CHECK_EQUAL(read_bytes(bytes, sizeof(bytes), 1), 0);
    CHECK(table.entries[1].is_known && !table.entries[2].is_known);
    dwarf_abbreviations_deinit(&table);
}

static void what_is_damaged_or_strange_is_refused(void)
{
    static const uint8_t unknown_form[] = {1, 0x2e, 0, 3, 0x7e, 0, 0, 0}, cut[] = {1, 0x2e, 0, 3};
    static const uint8_t twice[] = {1, 0x2e, 0, 0, 0, 1, 0x2e, 0, 0, 0, 0};
    static const uint8_t huge[] = {0xff, 0xff, 0xff, 0x7f, 0x2e, 0, 0, 0, 0};
    uint8_t many[3 + 2 * 300 + 3] = {1, 0x2e, 0};

    CHECK_EQUAL(read_bytes(unknown_form, sizeof(unknown_form), 0), -ENOTSUP);
    CHECK_EQUAL(read_bytes(cut, sizeof(cut), 0), -ENOTSUP);
    CHECK_EQUAL(read_bytes(twice, sizeof(twice), 0), -ENOTSUP);
    CHECK_EQUAL(read_bytes(huge, sizeof(huge), 0), -ENOTSUP);
    /* Attributes that take no room, so many of them that reading entries would take forever. */
    for (size_t i = 3; i < sizeof(many) - 3; i += 2) {
        many[i] = 0x3f;
        many[i + 1] = DWARF_FORM_FLAG_PRESENT;
    }
    CHECK_EQUAL(read_bytes(many, sizeof(many), 0), -ENOTSUP);
    CHECK_EQUAL(dwarf_abbreviations_read(&table, &(struct dwarf_abbreviations_wanted){{cut, 4}, 5, {4, 8, 4}, 0}),
                -ENOTSUP);
}

static const struct check_case cases[] = {
    CHECK_CASE(entries_are_found_by_number),
    CHECK_CASE(what_is_damaged_or_strange_is_refused),
};

CHECK_MAIN(cases)
