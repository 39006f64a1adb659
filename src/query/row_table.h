/* SPDX-License-Identifier: MIT */
/*
 * Rows as a table for people: with lines around cells, or plain. The first rows decide how wide columns are, and those
 * that follow go through; one that is wider stands out. Memory does not grow with rows. One thread at a time.
 */
#ifndef GAIT_QUERY_ROW_TABLE_H
#define GAIT_QUERY_ROW_TABLE_H

#include "query/row_cell.h"

#include <stdio.h>

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
