/* SPDX-License-Identifier: MIT */
/* Places are checked against the bytes that are there, however they are declared. */
#include "trace/kernel_event_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ELEMENTS_SHOWN 8u
#define BYTES_SHOWN    32u

/* ---- values ------------------------------------------------------------------------------------------------------ */

static uint64_t read_number(const struct kernel_field *field, const uint8_t *bytes)
{
    uint64_t number = 0;
    uint32_t size = field->size_bytes < sizeof(number) ? field->size_bytes : sizeof(number);
    uint32_t shift = 64 - 8 * size;

    memcpy(&number, bytes, size);
    if (field->type == KERNEL_FIELD_SIGNED)
        number = (uint64_t)((int64_t)(number << shift) >> shift);
    return number;
}

/* Whether so many bytes are there, at a place that counts from the beginning of the whole record. */
static bool is_inside(uint64_t place, uint64_t size, uint32_t raw_base, size_t raw_bytes)
{
    return place >= raw_base && place - raw_base <= raw_bytes && size <= raw_bytes - (place - raw_base);
}

struct kernel_value kernel_value_read(const struct kernel_field *field, uint32_t raw_base, const uint8_t *raw,
                                      size_t raw_bytes)
{
    struct kernel_value value = {.is_there = false};
    uint64_t place = field->offset, size = (uint64_t)field->size_bytes * field->count;
    bool is_far = field->type == KERNEL_FIELD_FAR_STRING || field->type == KERNEL_FIELD_FAR_BYTES;

    if (!is_inside(place, size, raw_base, raw_bytes))
        return value;
    if ((is_far || field->type == KERNEL_FIELD_NEAR_STRING) && size >= sizeof(uint32_t)) {
        uint32_t where;

        memcpy(&where, raw + (place - raw_base), sizeof(where));
        place = is_far ? where & 0xffff : place + sizeof(where) + (where & 0xffff);
        size = where >> 16;
        if (where == 0 || !is_inside(place, size, raw_base, raw_bytes))
            return value;
    }
    value.is_there = true;
    value.bytes = raw + (place - raw_base);
    value.size_bytes = size;
    value.is_text = field->type == KERNEL_FIELD_STRING || field->type == KERNEL_FIELD_FAR_STRING ||
                    field->type == KERNEL_FIELD_NEAR_STRING;
    if (value.is_text)
        value.size_bytes = strnlen((const char *)value.bytes, size);
    else if (field->type != KERNEL_FIELD_FAR_BYTES)
        value.number = read_number(field, value.bytes);
    return value;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

struct out {
    char *text;
    size_t room;
    size_t used; /* less than the room */
};

static void put(struct out *out, const char *format, ...) PRINTF_LIKE(2, 3);

static void put(struct out *out, const char *format, ...)
{
    va_list arguments;
    int wanted;

    va_start(arguments, format);
    wanted = vsnprintf(out->text + out->used, out->room - out->used, format, arguments);
    va_end(arguments);
    if (wanted > 0)
        out->used = out->used + (size_t)wanted < out->room ? out->used + (size_t)wanted : out->room - 1;
}

static void put_string(struct out *out, const uint8_t *bytes, size_t size_bytes)
{
    put(out, "\"");
    for (size_t i = 0; i < size_bytes; i++) {
        if (bytes[i] == '"' || bytes[i] == '\\')
            put(out, "\\%c", bytes[i]);
        else if (bytes[i] < 0x20 || bytes[i] == 0x7f)
            put(out, "\\x%02x", bytes[i]);
        else
            put(out, "%c", bytes[i]);
    }
    put(out, "\"");
}

static void put_bytes(struct out *out, const uint8_t *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes && i < BYTES_SHOWN; i++)
        put(out, "%02x", bytes[i]);
    if (size_bytes > BYTES_SHOWN)
        put(out, "...");
}

static void put_number(struct out *out, const struct kernel_field *field, const uint8_t *bytes)
{
    uint64_t number = read_number(field, bytes);

    if (field->type == KERNEL_FIELD_SIGNED)
        put(out, "%" PRId64, (int64_t)number);
    else if (field->type == KERNEL_FIELD_UNSIGNED)
        put(out, "%" PRIu64, number);
    else
        put(out, "0x%" PRIx64, number);
}

static void put_numbers(struct out *out, const struct kernel_field *field, const uint8_t *bytes)
{
    if (field->count > 1)
        put(out, "[");
    for (uint32_t i = 0; i < field->count && i < ELEMENTS_SHOWN; i++) {
        if (i != 0)
            put(out, ", ");
        put_number(out, field, bytes + (size_t)i * field->size_bytes);
    }
    if (field->count > 1)
        put(out, field->count > ELEMENTS_SHOWN ? ", ...]" : "]");
}

static void put_value(struct out *out, const struct kernel_field *field, const struct kernel_value *value)
{
    if (!value->is_there)
        put(out, "?");
    else if (value->is_text)
        put_string(out, value->bytes, value->size_bytes);
    else if (field->type == KERNEL_FIELD_FAR_BYTES || field->size_bytes > sizeof(uint64_t))
        put_bytes(out, value->bytes, value->size_bytes);
    else
        put_numbers(out, field, value->bytes);
}

size_t kernel_value_write(const struct kernel_field *field, const struct kernel_value *value, char *text,
                          size_t text_bytes)
{
    struct out out = {text, text_bytes, 0};

    text[0] = '\0';
    put_value(&out, field, value);
    return out.used;
}

size_t kernel_event_fields_write(const struct kernel_source *source, const struct kernel_event *event, char *text,
                                 size_t text_bytes)
{
    struct out out = {text, text_bytes, 0};

    text[0] = '\0';
    for (size_t i = 0; i < source->field_count; i++) {
        const struct kernel_field *field = &source->fields[i];
        struct kernel_value value = kernel_value_read(field, source->raw_base, event->raw, event->raw_bytes);

        put(&out, "%s%s=", i == 0 ? "" : " ", field->name);
        put_value(&out, field, &value);
    }
    return out.used;
}

size_t kernel_field_declare(const struct kernel_field *field, char *text, size_t text_bytes)
{
    struct out out = {text, text_bytes, 0};
    unsigned bits = 8 * field->size_bytes;

    text[0] = '\0';
    if (field->type == KERNEL_FIELD_STRING)
        put(&out, "char %s[%u]", field->name, (unsigned)(field->size_bytes * field->count));
    else if (field->type == KERNEL_FIELD_FAR_STRING || field->type == KERNEL_FIELD_NEAR_STRING)
        put(&out, "string %s", field->name);
    else if (field->type == KERNEL_FIELD_FAR_BYTES || field->size_bytes > sizeof(uint64_t))
        put(&out, "bytes %s", field->name);
    else if (field->type == KERNEL_FIELD_SIGNED)
        put(&out, "i%u %s", bits, field->name);
    else
        put(&out, "%c%u %s", field->type == KERNEL_FIELD_UNSIGNED ? 'u' : 'x', bits, field->name);
    if (field->count > 1 && field->type != KERNEL_FIELD_STRING)
        put(&out, "[%u]", (unsigned)field->count);
    return out.used;
}
