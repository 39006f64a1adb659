/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace/detail_text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void detail_text_init(struct detail_text *text, char *bytes, size_t room)
{
    *text = (struct detail_text){bytes, room, 0};
    bytes[0] = '\0';
}

void detail_text_add(struct detail_text *text, const char *more)
{
    size_t left = text->room - text->used - 1, length = strlen(more);

    length = length < left ? length : left;
    memcpy(text->bytes + text->used, more, length);
    text->used += length;
    text->bytes[text->used] = '\0';
}

static __attribute__((format(printf, 2, 3))) void add_printed(struct detail_text *text, const char *format, ...)
{
    char printed[64];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(printed, sizeof(printed), format, arguments);
    va_end(arguments);
    detail_text_add(text, printed);
}

/* ---- characters -------------------------------------------------------------------------------------------------- */

/* How many bytes a character has that is more than ASCII, and nothing that moves a cursor; 0: it is none. */
static size_t wide_length(const uint8_t *bytes, size_t size_bytes)
{
    size_t length = bytes[0] >= 0xc2 && bytes[0] < 0xe0 ? 2 : bytes[0] >= 0xe0 && bytes[0] < 0xf0 ? 3 : 4;

    if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || length > size_bytes || (bytes[0] == 0xc2 && bytes[1] < 0xa0) ||
        (bytes[0] == 0xe0 && bytes[1] < 0xa0) || (bytes[0] == 0xed && bytes[1] >= 0xa0) ||
        (bytes[0] == 0xf0 && bytes[1] < 0x90) || (bytes[0] == 0xf4 && bytes[1] >= 0x90))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

static void add_escaped(struct detail_text *text, uint8_t byte, char quote)
{
    static const char letters[] = "\a\b\f\n\r\t\v", names[] = "abfnrtv";
    const char *letter = byte == '\0' ? NULL : strchr(letters, byte);

    if (letter != NULL)
        add_printed(text, "\\%c", names[letter - letters]);
    else if (byte == '\\' || byte == quote)
        add_printed(text, "\\%c", byte);
    else if (byte < 0x20 || byte >= 0x7f)
        add_printed(text, "\\x%02x", byte);
    else
        add_printed(text, "%c", byte);
}

static void add_quoted(struct detail_text *text, const uint8_t *bytes, size_t size_bytes)
{
    detail_text_add(text, "\"");
    for (size_t i = 0; i < size_bytes;) {
        size_t length = wide_length(bytes + i, size_bytes - i);

        if (length == 0)
            add_escaped(text, bytes[i++], '"');
        else
            add_printed(text, "%.*s", (int)length, (const char *)bytes + i);
        i += length;
    }
    detail_text_add(text, "\"");
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* With as few digits as tell it from all others. */
static void add_float(struct detail_text *text, double number, bool is_float)
{
    char printed[64];

    for (int digits = 6; digits <= 17; digits++) {
        snprintf(printed, sizeof(printed), "%.*g", digits, number);
        if (is_float ? strtof(printed, NULL) == (float)number : strtod(printed, NULL) == number)
            break;
    }
    detail_text_add(text, printed);
}

static void add_pointer(struct detail_text *text, uint64_t address)
{
    if (address == 0)
        detail_text_add(text, "NULL");
    else
        add_printed(text, "0x%" PRIx64, address);
}

static void add_error(struct detail_text *text, int number)
{
    const char *name = strerrorname_np(number);

    if (name == NULL)
        add_printed(text, "errno %d", number);
    else
        detail_text_add(text, name);
}

static void add_descriptor(struct detail_text *text, int number)
{
    if (number == AT_FDCWD)
        detail_text_add(text, "AT_FDCWD");
    else
        add_printed(text, "%d", number);
}

static double double_of(uint64_t bits)
{
    double number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

static float float_of(uint64_t bits)
{
    uint32_t half = (uint32_t)bits;
    float number;

    memcpy(&number, &half, sizeof(number));
    return number;
}

/* Of any type that has a fixed size. */
static void add_number(struct detail_text *text, uint32_t type, uint64_t bits)
{
    switch (type) {
    case DETAIL_TYPE_I8:
        add_printed(text, "%d", (int8_t)bits);
        break;
    case DETAIL_TYPE_I16:
        add_printed(text, "%d", (int16_t)bits);
        break;
    case DETAIL_TYPE_I32:
        add_printed(text, "%" PRId32, (int32_t)bits);
        break;
    case DETAIL_TYPE_I64:
        add_printed(text, "%" PRId64, (int64_t)bits);
        break;
    case DETAIL_TYPE_HEX:
        add_printed(text, "0x%" PRIx64, bits);
        break;
    case DETAIL_TYPE_POINTER:
        add_pointer(text, bits);
        break;
    case DETAIL_TYPE_CHARACTER:
        detail_text_add(text, "'");
        add_escaped(text, (uint8_t)bits, '\'');
        detail_text_add(text, "'");
        break;
    case DETAIL_TYPE_TRUTH:
        detail_text_add(text, (uint8_t)bits == 0 ? "false" : "true");
        break;
    case DETAIL_TYPE_FLOAT:
        add_float(text, (double)float_of(bits), true);
        break;
    case DETAIL_TYPE_DOUBLE:
        add_float(text, double_of(bits), false);
        break;
    case DETAIL_TYPE_DESCRIPTOR:
        add_descriptor(text, (int32_t)bits);
        break;
    case DETAIL_TYPE_ERRNO:
        add_error(text, (int32_t)bits);
        break;
    default:
        add_printed(text, "%" PRIu64, bits);
        break;
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static uint64_t bits_of(const struct detail_value *value, const uint8_t *data)
{
    uint64_t bits = 0;

    memcpy(&bits, data, value->data_bytes < sizeof(bits) ? value->data_bytes : sizeof(bits));
    return bits;
}

static void add_unreadable(struct detail_text *text, const struct detail_value *value, const uint8_t *data)
{
    uint64_t address = bits_of(value, data);

    if (value->data_bytes == sizeof(address))
        add_pointer(text, address);
    if (value->data_bytes == 0 || address != 0)
        detail_text_add(text, value->data_bytes == 0 ? "?" : " (unreadable)");
}

void detail_text_put(struct detail_text *text, const struct detail_value *value, const uint8_t *data)
{
    if (value->type == DETAIL_TYPE_SKIPPED) {
        detail_text_add(text, "_");
    } else if (value->flags & DETAIL_VALUE_LEFT_OUT) {
        detail_text_add(text, "(no room)");
    } else if (value->flags & DETAIL_VALUE_UNREADABLE) {
        add_unreadable(text, value, data);
    } else if (value->type == DETAIL_TYPE_STRING || value->type == DETAIL_TYPE_BUFFER) {
        add_quoted(text, data, value->data_bytes);
        if (value->flags & DETAIL_VALUE_CLIPPED)
            detail_text_add(text, "...");
    } else {
        add_number(text, value->type, bits_of(value, data));
    }
}

/* Whether it is a number that may stand for something else; then it is at *number_out. */
static bool is_whole_number(const struct detail_value *value, const uint8_t *data, int64_t *number_out)
{
    uint64_t bits = bits_of(value, data);
    unsigned unused_bits = 64 - 8 * detail_type_bytes(value->type);

    if (value->data_bytes == 0 || value->flags != 0 || value->type < DETAIL_TYPE_I8 || value->type > DETAIL_TYPE_HEX)
        return false;
    if (value->type <= DETAIL_TYPE_I64)
        *number_out = (int64_t)(bits << unused_bits) >> unused_bits;
    else
        *number_out = (int64_t)bits;
    return true;
}

static void put_named(struct detail_text *text, const struct detail_value *value, const uint8_t *data,
                      const struct detail_naming *naming, unsigned which)
{
    const char *name = NULL;
    int64_t number;

    if (naming != NULL && is_whole_number(value, data, &number))
        name = naming->value(naming->context, which, number);
    if (name != NULL)
        detail_text_add(text, name);
    else
        detail_text_put(text, value, data);
}

static void put_name(struct detail_text *text, const struct detail_naming *naming, unsigned which)
{
    const char *name = naming == NULL ? NULL : naming->name(naming->context, which);

    if (name == NULL || name[0] == '\0')
        return;
    detail_text_add(text, name);
    detail_text_add(text, "=");
}

void detail_text_put_arguments(struct detail_text *text, struct detail_values values,
                               const struct detail_naming *naming)
{
    struct detail_value value;
    const uint8_t *data;
    unsigned which = 0;

    for (size_t at = 0; detail_value_next(values.bytes, values.size_bytes, &at, &value, &data); which++) {
        if (which != 0)
            detail_text_add(text, ", ");
        put_name(text, naming, which);
        put_named(text, &value, data, naming, which);
    }
    if (naming != NULL && naming->is_partial)
        detail_text_add(text, which == 0 ? "..." : ", ...");
}

void detail_text_put_result(struct detail_text *text, struct detail_values values, const struct detail_naming *naming)
{
    struct detail_value value;
    const uint8_t *data;
    bool is_first = true;

    for (size_t at = 0; detail_value_next(values.bytes, values.size_bytes, &at, &value, &data); is_first = false) {
        if (!is_first)
            detail_text_add(text, " ");
        put_named(text, &value, data, is_first ? naming : NULL, DETAIL_RESULT);
    }
}
