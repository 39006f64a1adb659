/* SPDX-License-Identifier: MIT */
#include "trace/kernel_event_text.h"

#include "support/check.h"

static char text[256];

/* The value of a field at that place of 24 bytes, of which 8 in front were not recorded. */
static const char *value_of(uint32_t type, uint32_t offset, uint32_t size_bytes, uint32_t count)
{
    static const uint8_t raw[24] = {0xfe, 0xff, 0xff, 0xff, 1, 0, 2, 0, 20, 0, 5, 0,
                                    'w',  'o',  0x1b, '"',  0, 0, 0, 0, 0,  0, 0, 0};
    const struct kernel_field field = {offset, size_bytes, count, type, "f"};
    struct kernel_value value = kernel_value_read(&field, 8, raw, sizeof(raw));

    (void)kernel_value_write(&field, &value, text, sizeof(text));
    return text;
}

static void numbers_have_sizes_and_signs(void)
{
    CHECK_TEXT(value_of(KERNEL_FIELD_SIGNED, 8, 4, 1), "-2");
    CHECK_TEXT(value_of(KERNEL_FIELD_UNSIGNED, 8, 4, 1), "4294967294");
    CHECK_TEXT(value_of(KERNEL_FIELD_HEX, 8, 2, 1), "0xfffe");
    CHECK_TEXT(value_of(KERNEL_FIELD_UNSIGNED, 12, 2, 2), "[1, 2]");
    CHECK_TEXT(value_of(KERNEL_FIELD_UNSIGNED, 20, 1, 12), "[119, 111, 27, 34, 0, 0, 0, 0, ...]");
}

static void strings_are_escaped(void)
{
    CHECK_TEXT(value_of(KERNEL_FIELD_STRING, 20, 8, 1), "\"wo\\x1b\\\"\"");
    CHECK_TEXT(value_of(KERNEL_FIELD_FAR_STRING, 16, 4, 1), "\"wo\\x1b\\\"\"");
    CHECK_TEXT(value_of(KERNEL_FIELD_FAR_BYTES, 16, 4, 1), "776f1b2200");
}

static void what_is_outside_is_not_read(void)
{
    CHECK_TEXT(value_of(KERNEL_FIELD_SIGNED, 0, 4, 1), "?");
    CHECK_TEXT(value_of(KERNEL_FIELD_SIGNED, 30, 4, 1), "?");
    CHECK_TEXT(value_of(KERNEL_FIELD_SIGNED, 0xfffffff0, 8, 1), "?");
    CHECK_TEXT(value_of(KERNEL_FIELD_SIGNED, 24, 8, 0xffff), "?");
    CHECK_TEXT(value_of(KERNEL_FIELD_FAR_STRING, 8, 4, 1), "?");
    CHECK_TEXT(value_of(KERNEL_FIELD_FAR_STRING, 24, 4, 1), "?");
    CHECK_TEXT(value_of(KERNEL_FIELD_NEAR_STRING, 16, 4, 1), "?");
}

static void all_fields_come_with_their_names(void)
{
    const struct kernel_field fields[] = {{0, 4, 1, KERNEL_FIELD_SIGNED, "pid"},
                                          {4, 4, 1, KERNEL_FIELD_STRING, "comm"}};
    const struct kernel_source source = {.fields = (struct kernel_field *)(uintptr_t)fields, .field_count = 2};
    const struct kernel_event event = {.raw = (const uint8_t *)"\5\0\0\0sh\0", .raw_bytes = 8};
    char small[10];

    (void)kernel_event_fields_write(&source, &event, text, sizeof(text));
    CHECK_TEXT(text, "pid=5 comm=\"sh\"");
    CHECK_EQUAL(kernel_event_fields_write(&source, &event, small, sizeof(small)), 9);
    CHECK_TEXT(small, "pid=5 com");
}

static const char *declared(uint32_t type, uint32_t size_bytes, uint32_t count)
{
    const struct kernel_field field = {0, size_bytes, count, type, "f"};

    (void)kernel_field_declare(&field, text, sizeof(text));
    return text;
}

static void fields_are_declared(void)
{
    CHECK_TEXT(declared(KERNEL_FIELD_SIGNED, 4, 1), "i32 f");
    CHECK_TEXT(declared(KERNEL_FIELD_UNSIGNED, 1, 1), "u8 f");
    CHECK_TEXT(declared(KERNEL_FIELD_HEX, 8, 6), "x64 f[6]");
    CHECK_TEXT(declared(KERNEL_FIELD_STRING, 16, 1), "char f[16]");
    CHECK_TEXT(declared(KERNEL_FIELD_FAR_STRING, 4, 1), "string f");
    CHECK_TEXT(declared(KERNEL_FIELD_FAR_BYTES, 4, 1), "bytes f");
}

static const struct check_case cases[] = {
    CHECK_CASE(numbers_have_sizes_and_signs), CHECK_CASE(strings_are_escaped),
    CHECK_CASE(what_is_outside_is_not_read),  CHECK_CASE(all_fields_come_with_their_names),
    CHECK_CASE(fields_are_declared),
};

CHECK_MAIN(cases)
