/* SPDX-License-Identifier: MIT */
/*
 * Events of the kernel as people read them: their fields by name, as "prev_pid=12 prev_comm="bash"". What is in them
 * comes from elsewhere: control characters in strings are escaped. Stateless; callable from any thread.
 */
#ifndef GAIT_TRACE_KERNEL_EVENT_TEXT_H
#define GAIT_TRACE_KERNEL_EVENT_TEXT_H

#include "hosted/json_text.h"
#include "trace/kernel_events.h"

#include <stdio.h>

/* One field of an event, out of its bytes. */
struct kernel_value {
    bool is_there; /* else the record is too short for it */
    bool is_text;
    uint64_t number; /* of the first, its sign extended */
    const uint8_t *bytes;
    size_t size_bytes; /* of all elements; of text without a NUL */
};

/* raw_base is that of the source. */
struct kernel_value kernel_value_read(const struct kernel_field *field, uint32_t raw_base, const uint8_t *raw,
                                      size_t raw_bytes);

/* Writes one field's value. Cut off where the room ends; returns how many bytes were written, without the NUL. */
size_t kernel_value_write(const struct kernel_field *field, const struct kernel_value *value, char *text,
                          size_t text_bytes);

/* Writes all fields, with spaces between them. */
size_t kernel_event_fields_write(const struct kernel_source *source, const struct kernel_event *event, char *text,
                                 size_t text_bytes);

/* The field as people would declare it: "int prev_pid", "char prev_comm[16]". */
size_t kernel_field_declare(const struct kernel_field *field, char *text, size_t text_bytes);

/* Writes {"prev_pid": 12, "prev_comm": "bash"}: numbers where they are numbers, null for what is not there, else texts.
 */
void kernel_event_put_json(FILE *stream, const struct kernel_source *source, const struct kernel_event *event,
                           enum json_escape escape);

#endif
