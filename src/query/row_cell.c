/* SPDX-License-Identifier: MIT */
/* Widths are those of the C library for UTF-8, whatever the locale of who runs us is. */
#define _GNU_SOURCE
#include "query/row_formats.h"

#include "hosted/growing_array.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static int row_text_add(struct row_text *text, const char *bytes, size_t count)
{
    if (ARRAY_RESERVE(text->bytes, text->capacity, text->used + count) != 0)
        return -ENOMEM;
    memcpy(text->bytes + text->used, bytes, count);
    text->used += count;
    return 0;
}

void row_text_deinit(struct row_text *text)
{
    free(text->bytes);
    *text = (struct row_text){.used = 0};
}

/* The character that begins there, and its bytes; 0: it is none. */
static size_t read_character(const unsigned char *bytes, size_t count, uint32_t *code_out)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = bytes[0] < 0x80           ? 1
                    : (bytes[0] >> 5) == 0x6  ? 2
                    : (bytes[0] >> 4) == 0xe  ? 3
                    : (bytes[0] >> 3) == 0x1e ? 4
                                              : 0;
    uint32_t code;

    if (length == 0 || length > count)
        return 0;
    code = length == 1 ? bytes[0] : bytes[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (bytes[i] & 0x3f);
    }
    if (code < lowest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    *code_out = code;
    return length;
}

static int width_of(uint32_t code)
{
    static locale_t utf8;
    locale_t before;
    int width;

    if (code < 0x7f)
        return code < 0x20 ? -1 : 1;
    if (utf8 == (locale_t)0)
        utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (utf8 == (locale_t)0)
        return code < 0xa0 ? -1 : 1;
    before = uselocale(utf8);
    width = wcwidth((wchar_t)code);
    uselocale(before);
    return width;
}

/* A character that is shown as it is, or how it is written instead. */
static int add_text(struct row_text *text, const struct query_value *value, size_t *width_out)
{
    const unsigned char *bytes = (const unsigned char *)value->bytes;
    size_t at = 0, width = 0;
    int result = 0;

    while (at < value->size_bytes && result == 0) {
        uint32_t code = 0;
        size_t length = read_character(bytes + at, value->size_bytes - at, &code);
        int columns = length == 0 ? -1 : width_of(code);
        char escaped[16];

        if (columns >= 0) {
            result = row_text_add(text, value->bytes + at, length);
        } else {
            columns = code == '\n'   ? snprintf(escaped, sizeof(escaped), "\\n")
                      : code == '\t' ? snprintf(escaped, sizeof(escaped), "\\t")
                      : code == '\r' ? snprintf(escaped, sizeof(escaped), "\\r")
                      : code > 0x7f  ? snprintf(escaped, sizeof(escaped), "\\u%04" PRIx32, code)
                                     : snprintf(escaped, sizeof(escaped), "\\x%02x", bytes[at]);
            result = row_text_add(text, escaped, (size_t)columns);
        }
        width += (size_t)columns;
        at += length == 0 ? 1 : length;
    }
    *width_out = width;
    return result;
}

static int add_blob(struct row_text *text, const struct query_value *value, size_t *width_out)
{
    int result = row_text_add(text, "x'", 2);

    for (size_t i = 0; i < value->size_bytes && result == 0; i++) {
        char digits[3];

        snprintf(digits, sizeof(digits), "%02x", (unsigned char)value->bytes[i]);
        result = row_text_add(text, digits, 2);
    }
    *width_out = 3 + 2 * value->size_bytes;
    return result != 0 ? result : row_text_add(text, "'", 1);
}

int row_cell_add(struct row_text *text, const struct query_value *value, size_t *width_out)
{
    char number[64];
    int length;

    if (value->type == QUERY_TEXT)
        return add_text(text, value, width_out);
    if (value->type == QUERY_BLOB)
        return add_blob(text, value, width_out);
    length = value->type == QUERY_NULL      ? snprintf(number, sizeof(number), "NULL")
             : value->type == QUERY_INTEGER ? snprintf(number, sizeof(number), "%" PRId64, value->integer)
                                            : snprintf(number, sizeof(number), "%.15g", value->real);
    *width_out = (size_t)length;
    return row_text_add(text, number, (size_t)length);
}

size_t row_cell_fit(const char *bytes, size_t count, size_t width, size_t *width_out)
{
    size_t at = 0, used = 0;

    while (at < count) {
        uint32_t code = 0;
        size_t length = read_character((const unsigned char *)bytes + at, count - at, &code);
        int columns = length == 0 ? 1 : width_of(code);

        columns = columns < 0 ? 1 : columns;
        if (used + (size_t)columns > width)
            break;
        used += (size_t)columns;
        at += length == 0 ? 1 : length;
    }
    *width_out = used;
    return at;
}
