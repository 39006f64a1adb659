/* SPDX-License-Identifier: MIT */
/*
 * Values of detail records as people read them: strings quoted and escaped, pointers in hexadecimal, errors by their
 * names. What is in the record is not trusted. Stateless; callable from anywhere.
 */
#ifndef GAIT_TRACE_DETAIL_TEXT_H
#define GAIT_TRACE_DETAIL_TEXT_H

#include "ring/detail_record.h"
#include "ring/detail_value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Enough for all values of a record. */
#define DETAIL_TEXT_BYTES 4096

/* Text that grows to the end of its buffer, and is always ended by a NUL. */
struct detail_text {
    char *bytes;
    size_t room;
    size_t used;
};

/* What is known of the arguments of a function besides their values. */
struct detail_naming {
    /* The name of an argument; NULL or empty: it has none. */
    const char *(*name)(const void *context, unsigned which);
    /* What a value of an argument, or of the result, is called; NULL: nothing. */
    const char *(*value)(const void *context, unsigned which, int64_t value);
    bool is_partial; /* there are more arguments */
    const void *context;
};

/* For detail_naming.value. */
#define DETAIL_RESULT UINT32_MAX

void detail_text_init(struct detail_text *text, char *bytes, size_t room);

void detail_text_add(struct detail_text *text, const char *more);

/* One value. */
void detail_text_put(struct detail_text *text, const struct detail_value *value, const uint8_t *data);

/* All values of a call that began, with commas between them: `path="/etc/passwd", 0x0`. NULL: there are no names. */
void detail_text_put_arguments(struct detail_text *text, struct detail_values values,
                               const struct detail_naming *naming);

/* The result and the error: `-1 ENOENT`. */
void detail_text_put_result(struct detail_text *text, struct detail_values values, const struct detail_naming *naming);

/*
 * All arguments of a probe that was passed, with commas between. Notes do not distinguish pointers from other numbers:
 * what is too large for most others is shown as one.
 */
void probe_text_put_arguments(struct detail_text *text, struct detail_values values);

#endif
