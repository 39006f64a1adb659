/* SPDX-License-Identifier: MIT */
#include "symbolize/dwarf/dwarf_entry.h"

#include "support/check.h"
#include "symbolize/dwarf/dwarf_names.h"

static const struct dwarf_unit_header header = {.end = 64, .version = 5, .sizes = {4, 8, 4}};
static const struct dwarf_unit_header old_header = {.begin = 8, .end = 64, .version = 4, .sizes = {4, 8, 4}};
static const uint8_t info[64] = "0123456789text in place";
static const uint8_t str[] = "first\0second", shared_str[] = "shared";
static const uint8_t str_offsets[] = {9, 9, 9, 9, 0, 0, 0, 0, 6, 0, 0, 0};
static const uint8_t addr[] = {0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0};
static struct dwarf_file shared = {.sections = {.str = {shared_str, sizeof(shared_str)}}};
static struct dwarf_file file = {.sections = {.info = {info, sizeof(info)},
                                              .str = {str, sizeof(str)},
                                              .str_offsets = {str_offsets, sizeof(str_offsets)},
                                              .addr = {addr, sizeof(addr)}},
                                 .shared = &shared};
static struct dwarf_unit_view unit = {.file = &file, .header = &header, .str_offsets_base = 4};

static void texts_are_found_wherever_they_are(void)
{
    CHECK_TEXT(dwarf_value_text(&unit, &(struct dwarf_value){DWARF_FORM_STRING, 10}), "text in place");
    CHECK_TEXT(dwarf_value_text(&unit, &(struct dwarf_value){DWARF_FORM_STRP, 6}), "second");
    CHECK_TEXT(dwarf_value_text(&unit, &(struct dwarf_value){DWARF_FORM_STRX1, 1}), "second");
    CHECK_TEXT(dwarf_value_text(&unit, &(struct dwarf_value){DWARF_FORM_GNU_STRP_ALT, 0}), "shared");
    CHECK(dwarf_value_text(&unit, &(struct dwarf_value){DWARF_FORM_STRP, 600}) == NULL);
    CHECK(dwarf_value_text(&unit, &(struct dwarf_value){DWARF_FORM_STRX, 2}) == NULL);
    CHECK(dwarf_value_text(&unit, &(struct dwarf_value){DWARF_FORM_STRX, UINT64_MAX / 4}) == NULL);
    CHECK(dwarf_value_text(&unit, &(struct dwarf_value){DWARF_FORM_DATA1, 1}) == NULL);
    CHECK(dwarf_value_text(&unit, &(struct dwarf_value){.form = 0}) == NULL);
}

static void addresses_and_numbers_are_told_apart(void)
{
    uint64_t address = 0;

    CHECK(dwarf_value_address(&unit, &(struct dwarf_value){DWARF_FORM_ADDR, 0x77}, &address) && address == 0x77);
    CHECK(dwarf_value_address(&unit, &(struct dwarf_value){DWARF_FORM_ADDRX, 1}, &address) && address == 0x2000);
    CHECK(!dwarf_value_address(&unit, &(struct dwarf_value){DWARF_FORM_ADDRX, 2}, &address));
    CHECK(!dwarf_value_address(&unit, &(struct dwarf_value){DWARF_FORM_DATA4, 1}, &address));
    CHECK_EQUAL(dwarf_value_number(&(struct dwarf_value){DWARF_FORM_DATA4, 5}), 5);
    CHECK_EQUAL(dwarf_value_number(&(struct dwarf_value){DWARF_FORM_ADDR, 5}), 0);
}

static void references_lead_to_the_right_file(void)
{
    const struct dwarf_unit_view old = {.file = &file, .header = &old_header};
    const struct dwarf_file *found;
    uint64_t place;

    CHECK(dwarf_value_reference(&old, &(struct dwarf_value){DWARF_FORM_REF4, 7}, &found, &place) && place == 15);
    CHECK(found == &file);
    CHECK(!dwarf_value_reference(&old, &(struct dwarf_value){DWARF_FORM_REF4, 56}, &found, &place));
    CHECK(dwarf_value_reference(&old, &(struct dwarf_value){DWARF_FORM_REF_ADDR, 99}, &found, &place) && place == 99);
    CHECK(dwarf_value_reference(&old, &(struct dwarf_value){DWARF_FORM_GNU_REF_ALT, 3}, &found, &place));
    CHECK(found == &shared && place == 3);
    CHECK(!dwarf_value_reference(&old, &(struct dwarf_value){DWARF_FORM_REF_SIG8, 3}, &found, &place));
}

static char told[256];

static void take(void *context, uint64_t begin, uint64_t end)
{
    (void)context;
    snprintf(told + strlen(told), sizeof(told) - strlen(told), "%" PRIx64 "-%" PRIx64 " ", begin, end);
}

static const char *ranges_of(struct dwarf_unit_view *view, uint16_t form, uint64_t number)
{
    told[0] = '\0';
    (void)dwarf_value_ranges(view, &(struct dwarf_value){form, number}, take, NULL);
    return told;
}

static void ranges_of_both_kinds_are_read(void)
{
    static const uint64_t pairs[] = {0x10, 0x20, UINT64_MAX, 0x5000, 1, 2, 3, 3, 0, 0, 7, 8};
    static const uint8_t list[] = {0,
                                   0,
                                   0,
                                   0,
                                   4,
                                   0,
                                   0,
                                   0, /* one offset, 4 behind its base */
                                   DWARF_RLE_OFFSET_PAIR,
                                   1,
                                   0x81,
                                   1,
                                   DWARF_RLE_BASE_ADDRESSX,
                                   1,
                                   DWARF_RLE_OFFSET_PAIR,
                                   0,
                                   4,
                                   DWARF_RLE_STARTX_ENDX,
                                   0,
                                   1,
                                   DWARF_RLE_STARTX_LENGTH,
                                   0,
                                   2,
                                   0,
                                   99};
    struct dwarf_unit_view old = {.file = &file, .header = &old_header, .base_address = 0x1000};
    struct dwarf_unit_view view = {.file = &file, .header = &header, .base_address = 0x1000, .rnglists_base = 4};

    file.sections.ranges = (struct dwarf_span){(const uint8_t *)pairs, sizeof(pairs)};
    file.sections.rnglists = (struct dwarf_span){list, sizeof(list)};
    CHECK_TEXT(ranges_of(&old, DWARF_FORM_SEC_OFFSET, 0), "1010-1020 5001-5002 ");
    /* What is cut off, or not there. */
    CHECK_TEXT(ranges_of(&old, DWARF_FORM_SEC_OFFSET, 80), "1007-1008 ");
    CHECK_TEXT(ranges_of(&old, DWARF_FORM_SEC_OFFSET, 8000), "");
    CHECK_TEXT(ranges_of(&view, DWARF_FORM_SEC_OFFSET, 8), "1001-1081 2000-2004 1000-2000 1000-1002 ");
    CHECK_TEXT(ranges_of(&view, DWARF_FORM_RNGLISTX, 0), "1001-1081 2000-2004 1000-2000 1000-1002 ");
    CHECK_TEXT(ranges_of(&view, DWARF_FORM_RNGLISTX, 900), "");
}

static void entries_are_read_with_what_is_of_interest(void)
{
    static const uint8_t bytes[] = {1,
                                    DWARF_TAG_SUBPROGRAM,
                                    0,
                                    DWARF_AT_NAME,
                                    DWARF_FORM_STRING,
                                    0x49,
                                    DWARF_FORM_BLOCK1,
                                    DWARF_AT_LOW_PC,
                                    DWARF_FORM_ADDR,
                                    DWARF_AT_HIGH_PC,
                                    DWARF_FORM_UDATA,
                                    0,
                                    0,
                                    0};
    static const uint8_t entry_bytes[] = {1, 'f', 0, 2, 9, 9, 0x34, 0x12, 0, 0, 0, 0, 0, 0, 0x90, 1, 0, 5};
    const struct dwarf_abbreviations_wanted wanted = {{bytes, sizeof(bytes)}, 0, {4, 8, 4}, 0};
    struct dwarf_unit_header short_header = {.end = sizeof(entry_bytes), .version = 4, .sizes = {4, 8, 4}};
    struct dwarf_file own = {.sections = {.info = {entry_bytes, sizeof(entry_bytes)}}};
    struct dwarf_abbreviations table;
    struct dwarf_unit_view view = {.file = &own, .header = &short_header, .abbreviations = &table};
    struct dwarf_cursor cursor = dwarf_unit_cursor(&view, 0);
    struct dwarf_entry entry;

    CHECK_EQUAL(dwarf_abbreviations_read(&table, &wanted), 0);
    CHECK(dwarf_entry_read(&view, &cursor, &entry));
    CHECK_TEXT(dwarf_value_text(&view, &entry.fields[DWARF_FIELD_NAME]), "f");
    CHECK_EQUAL(entry.fields[DWARF_FIELD_LOW_PC].number, 0x1234);
    CHECK_EQUAL(dwarf_value_number(&entry.fields[DWARF_FIELD_HIGH_PC]), 0x90);
    CHECK_EQUAL(entry.fields[DWARF_FIELD_RANGES].form, 0);
    /* A zero, then one of a kind that is not known. */
    CHECK(!dwarf_entry_read(&view, &cursor, &entry) && !cursor.has_failed);
    CHECK(!dwarf_entry_read(&view, &cursor, &entry) && cursor.has_failed);
    dwarf_abbreviations_deinit(&table);
}

static const struct check_case cases[] = {
    CHECK_CASE(texts_are_found_wherever_they_are),         CHECK_CASE(addresses_and_numbers_are_told_apart),
    CHECK_CASE(references_lead_to_the_right_file),         CHECK_CASE(ranges_of_both_kinds_are_read),
    CHECK_CASE(entries_are_read_with_what_is_of_interest),
};

CHECK_MAIN(cases)
