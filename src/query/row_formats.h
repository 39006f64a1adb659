/* SPDX-License-Identifier: MIT */
/*
 * Rows as people and programs read them, a file for each format. Streams stay the caller's, and outlive the receiver.
 * One thread at a time.
 */
#ifndef GAIT_QUERY_ROW_FORMATS_H
#define GAIT_QUERY_ROW_FORMATS_H

#include "hosted/json_writer.h"
#include "query/query.h"

#include <stdio.h>

/*
 * Rows as comma-separated values (RFC 4180, but lines end with a newline): the names first. NULL is nothing, an empty
 * text is "". Control characters other than those that end lines or are tabs are written as \x1b.
 */
struct query_receiver row_csv_receiver(FILE *stream);

/* Rows as JSON: an array for each statement, with an object a line. Blobs are texts of hexadecimal digits. */
struct row_json {
    struct json_writer writer;
    char **names; /* of the columns */
    size_t count;
};

void row_json_init(struct row_json *json, FILE *stream);
void row_json_deinit(struct row_json *json);

struct query_receiver row_json_receiver(struct row_json *json);

/*
 * Values as people read them, in one line: what could move a cursor, and bytes that are no text, are escaped. The
 * width is that on a terminal. Stateless; callable from any thread.
 */

/* Text that grows; empty when it is all zero. */
struct row_text {
    char *bytes;
    size_t used;
    size_t capacity;
};

void row_text_deinit(struct row_text *text);

/* Adds a value; *width_out is how many columns it takes. -ENOMEM. */
MUST_USE int row_cell_add(struct row_text *text, const struct query_value *value, size_t *width_out);

/* How many bytes of a text, that row_cell_add made, fit into so many columns; *width_out is how many they take. */
size_t row_cell_fit(const char *bytes, size_t count, size_t width, size_t *width_out);

/*
 * Rows as a table for people: with lines around cells, or plain. The first rows decide how wide columns are, and those
 * that follow go through; one that is wider stands out. Memory does not grow with rows.
 */

struct row_table_cell {
    size_t start; /* in the text */
    size_t size_bytes;
    size_t width;
};

struct row_table {
    FILE *stream;
    bool has_lines;
    size_t screen_width; /* cells are cut so that rows fit; 0: none are */

    size_t column_count;
    size_t *widths;
    bool *are_numbers;
    struct row_text text;         /* of the rows that wait, the header first */
    struct row_table_cell *cells; /* the same */
    size_t cell_count;
    size_t cell_capacity;
    bool is_shown;  /* the header is */
    bool is_second; /* another table was before */
};

void row_table_init(struct row_table *table, FILE *stream, bool has_lines, size_t screen_width);
void row_table_deinit(struct row_table *table);

struct query_receiver row_table_receiver(struct row_table *table);

#endif
