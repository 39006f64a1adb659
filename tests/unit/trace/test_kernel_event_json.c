/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace/kernel_event_text.h"

#include "support/check.h"

static void fields_are_an_object(void)
{
    struct kernel_field fields[] = {
        {.offset = 0, .size_bytes = 4, .count = 1, .type = KERNEL_FIELD_SIGNED, .name = "fd"},
        {.offset = 4, .size_bytes = 4, .count = 1, .type = KERNEL_FIELD_UNSIGNED, .name = "count"},
        {.offset = 8, .size_bytes = 8, .count = 1, .type = KERNEL_FIELD_HEX, .name = "where"},
        {.offset = 16, .size_bytes = 8, .count = 1, .type = KERNEL_FIELD_STRING, .name = "na\"me"},
        {.offset = 4, .size_bytes = 2, .count = 2, .type = KERNEL_FIELD_UNSIGNED, .name = "both"},
        {.offset = 24, .size_bytes = 8, .count = 1, .type = KERNEL_FIELD_SIGNED, .name = "far"},
    };
    const struct kernel_source source = {.id = 1, .fields = fields, .field_count = 6};
    const struct {
        int32_t fd;
        uint32_t count;
        uint64_t where;
        char name[8];
    } raw = {-3, 0x20001, 0xabc, "a\n\"b"};
    const struct kernel_event event = {.raw = (const uint8_t *)&raw, .raw_bytes = sizeof(raw)};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    kernel_event_put_json(stream, &source, &event, JSON_EXACT);
    fclose(stream);
    CHECK_TEXT(text, "{\"fd\": -3, \"count\": 131073, \"where\": \"0xabc\", \"na\\\"me\": \"a\\u000a\\\"b\", \"both\": "
                     "\"[1, 2]\", \"far\": null}");
    free(text);
}

static const struct check_case cases[] = {
    CHECK_CASE(fields_are_an_object),
};

CHECK_MAIN(cases)
