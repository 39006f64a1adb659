/* SPDX-License-Identifier: MIT */
/*
 * Rows as JSON: an array for each statement, with an object a line. Blobs are texts of hexadecimal digits. One thread
 * at a time.
 */
#ifndef GAIT_QUERY_ROW_JSON_H
#define GAIT_QUERY_ROW_JSON_H

#include "hosted/json_writer.h"
#include "query/query.h"

#include <stdio.h>

struct row_json {
    struct json_writer writer;
    char **names; /* of the columns */
    size_t count;
};

void row_json_init(struct row_json *json, FILE *stream);
void row_json_deinit(struct row_json *json);

struct query_receiver row_json_receiver(struct row_json *json);

#endif
