/* SPDX-License-Identifier: MIT */
/*
 * Reading JSON (RFC 8259), strictly: nothing is let through that is not JSON, nesting is bounded, names may not come
 * twice in an object. A text becomes a tree of values. Callable from any thread.
 */
#ifndef GAIT_TRACE_JSON_READER_H
#define GAIT_TRACE_JSON_READER_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH_MAX   16
#define JSON_MEMBERS_MAX 256 /* of one object; arrays may have any number of values */

enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json_value {
    enum json_kind kind;
    unsigned line;
    /*
     * Of a string, what it means; of a number, how it is written. Ended by a NUL, which is not in it. Bytes that were
     * no UTF-8 are written as the single surrogates \udc80 to \udcff, and are bytes again here.
     */
    char *text;
    char *name;               /* of a member of an object */
    struct json_value *first; /* of an array or object */
    struct json_value *next;  /* in the array or object that this is in */
};

/*
 * The text need not be ended by a NUL; `path` is what errors call it. -EPROTO: it is no such text, and err says in
 * which line; -ENOMEM. The value is the caller's, to be given back with json_free.
 */
MUST_USE int json_read(const char *path, const char *text, size_t size_bytes, struct json_value **value_out,
                       struct gait_error *err);
/* NULL is fine. */
void json_free(struct json_value *value);

/* The member with that name; NULL: there is none, or this is no object. */
const struct json_value *json_member(const struct json_value *object, const char *name);

/* How many values an array or object has. */
size_t json_count(const struct json_value *value);

/* False: it is no whole number of that range. */
MUST_USE bool json_to_u64(const struct json_value *value, uint64_t *number_out);
MUST_USE bool json_to_i64(const struct json_value *value, int64_t *number_out);

#endif
