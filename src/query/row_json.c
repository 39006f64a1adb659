/* SPDX-License-Identifier: MIT */
#include "query/row_json.h"

#include "trace/json_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void row_json_init(struct row_json *json, FILE *stream)
{
    *json = (struct row_json){.stream = stream};
}

void row_json_deinit(struct row_json *json)
{
    for (size_t i = 0; i < json->count; i++)
        free(json->names[i]);
    free(json->names);
    json->names = NULL;
    json->count = 0;
}

static int begin(void *context, const char *const *names, size_t count)
{
    struct row_json *json = context;

    row_json_deinit(json);
    json->has_rows = false;
    json->names = calloc(count, sizeof(char *));
    if (json->names == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        json->names[json->count] = strdup(names[i]);
        if (json->names[json->count] == NULL)
            return -ENOMEM;
        json->count++;
    }
    putc('[', json->stream);
    return 0;
}

static void put_value(FILE *stream, const struct query_value *value)
{
    if (value->type == QUERY_INTEGER) {
        fprintf(stream, "%" PRId64, value->integer);
    } else if (value->type == QUERY_REAL && isfinite(value->real)) {
        fprintf(stream, "%.17g", value->real);
    } else if (value->type == QUERY_TEXT) {
        json_put_text(stream, value->bytes);
    } else if (value->type == QUERY_BLOB) {
        putc('"', stream);
        for (size_t i = 0; i < value->size_bytes; i++)
            fprintf(stream, "%02x", (unsigned char)value->bytes[i]);
        putc('"', stream);
    } else {
        fputs("null", stream);
    }
}

static int row(void *context, const struct query_value *values, size_t count)
{
    struct row_json *json = context;

    fputs(json->has_rows ? ",\n" : "\n", json->stream);
    json->has_rows = true;
    for (size_t i = 0; i < count && i < json->count; i++) {
        fputs(i == 0 ? "{" : ", ", json->stream);
        json_put_text(json->stream, json->names[i]);
        fputs(": ", json->stream);
        put_value(json->stream, &values[i]);
    }
    putc('}', json->stream);
    return ferror(json->stream) != 0;
}

static int end(void *context)
{
    struct row_json *json = context;

    fputs(json->has_rows ? "\n]\n" : "]\n", json->stream);
    return 0;
}

struct query_receiver row_json_receiver(struct row_json *json)
{
    return (struct query_receiver){begin, row, end, json};
}
