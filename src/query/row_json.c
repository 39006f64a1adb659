/* SPDX-License-Identifier: MIT */
#include "query/row_formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void row_json_init(struct row_json *json, FILE *stream)
{
    *json = (struct row_json){.writer = {.stream = stream, .layout = JSON_SPACED}};
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
    json->names = calloc(count, sizeof(char *));
    if (json->names == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        json->names[json->count] = strdup(names[i]);
        if (json->names[json->count] == NULL)
            return -ENOMEM;
        json->count++;
    }
    json_writer_open(&json->writer, NULL, '[');
    return 0;
}

static void put_value(struct json_writer *writer, const char *name, const struct query_value *value)
{
    if (value->type == QUERY_INTEGER)
        json_writer_signed(writer, name, value->integer);
    else if (value->type == QUERY_REAL)
        json_writer_real(writer, name, value->real);
    else if (value->type == QUERY_TEXT)
        json_writer_text(writer, name, value->bytes);
    else if (value->type == QUERY_BLOB)
        json_writer_bytes(writer, name, value->bytes, value->size_bytes);
    else
        json_writer_null(writer, name);
}

static int row(void *context, const struct query_value *values, size_t count)
{
    struct row_json *json = context;

    json_writer_open_line(&json->writer, 0, NULL, '{');
    for (size_t i = 0; i < count && i < json->count; i++)
        put_value(&json->writer, json->names[i], &values[i]);
    json_writer_close(&json->writer, '}');
    return ferror(json->writer.stream) != 0;
}

static int end(void *context)
{
    struct row_json *json = context;

    if (json->writer.has_members)
        json_writer_break(&json->writer, 0);
    json_writer_close(&json->writer, ']');
    fputs("\n", json->writer.stream);
    return 0;
}

struct query_receiver row_json_receiver(struct row_json *json)
{
    return (struct query_receiver){begin, row, end, json};
}
