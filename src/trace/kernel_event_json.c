/* SPDX-License-Identifier: MIT */
#include "trace/kernel_event_json.h"

#include "trace/kernel_event_text.h"

#include <inttypes.h>

#define VALUE_BYTES 4096

/* What has more than one number, or is best read in hexadecimal, is a text, as people read it. */
static bool is_number(const struct kernel_field *field)
{
    return field->count == 1 && field->size_bytes <= sizeof(uint64_t) &&
           (field->type == KERNEL_FIELD_SIGNED || field->type == KERNEL_FIELD_UNSIGNED);
}

static void put_value(FILE *stream, const struct kernel_field *field, const struct kernel_value *value,
                      void (*put_text)(FILE *stream, const char *text))
{
    char text[VALUE_BYTES];

    if (!value->is_there) {
        fputs("null", stream);
    } else if (value->is_text) {
        snprintf(text, sizeof(text), "%.*s", (int)value->size_bytes, (const char *)value->bytes);
        put_text(stream, text);
    } else if (is_number(field) && field->type == KERNEL_FIELD_SIGNED) {
        fprintf(stream, "%" PRId64, (int64_t)value->number);
    } else if (is_number(field)) {
        fprintf(stream, "%" PRIu64, value->number);
    } else {
        (void)kernel_value_write(field, value, text, sizeof(text));
        put_text(stream, text);
    }
}

void kernel_event_put_json(FILE *stream, const struct kernel_source *source, const struct kernel_event *event,
                           void (*put_text)(FILE *stream, const char *text))
{
    putc('{', stream);
    for (size_t i = 0; i < source->field_count; i++) {
        struct kernel_value value =
            kernel_value_read(&source->fields[i], source->raw_base, event->raw, event->raw_bytes);

        fputs(i == 0 ? "" : ", ", stream);
        put_text(stream, source->fields[i].name);
        fputs(": ", stream);
        put_value(stream, &source->fields[i], &value, put_text);
    }
    putc('}', stream);
}
