/* SPDX-License-Identifier: MIT */
#include "trace/kernel_event_text.h"

#include "hosted/json_writer.h"

#define VALUE_BYTES 4096

/* What has more than one number, or is best read in hexadecimal, is a text, as people read it. */
static bool is_number(const struct kernel_field *field)
{
    return field->count == 1 && field->size_bytes <= sizeof(uint64_t) &&
           (field->type == KERNEL_FIELD_SIGNED || field->type == KERNEL_FIELD_UNSIGNED);
}

static void put_value(struct json_writer *json, const struct kernel_field *field, const struct kernel_value *value)
{
    char text[VALUE_BYTES];

    if (!value->is_there) {
        json_writer_null(json, field->name);
    } else if (value->is_text) {
        snprintf(text, sizeof(text), "%.*s", (int)value->size_bytes, (const char *)value->bytes);
        json_writer_text(json, field->name, text);
    } else if (is_number(field) && field->type == KERNEL_FIELD_SIGNED) {
        json_writer_signed(json, field->name, (int64_t)value->number);
    } else if (is_number(field)) {
        json_writer_count(json, field->name, value->number);
    } else {
        (void)kernel_value_write(field, value, text, sizeof(text));
        json_writer_text(json, field->name, text);
    }
}

void kernel_event_put_json(FILE *stream, const struct kernel_source *source, const struct kernel_event *event,
                           enum json_escape escape)
{
    struct json_writer json = {.stream = stream, .layout = JSON_SPACED, .escape = escape};

    json_writer_open(&json, NULL, '{');
    for (size_t i = 0; i < source->field_count; i++) {
        struct kernel_value value =
            kernel_value_read(&source->fields[i], source->raw_base, event->raw, event->raw_bytes);

        put_value(&json, &source->fields[i], &value);
    }
    json_writer_close(&json, '}');
}
