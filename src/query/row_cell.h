/* SPDX-License-Identifier: MIT */
/*
 * Values as people read them, in one line: what could move a cursor, and bytes that are no text, are escaped. The
 * width is that on a terminal. Stateless; callable from any thread.
 */
#ifndef GAIT_QUERY_ROW_CELL_H
#define GAIT_QUERY_ROW_CELL_H

#include "query/query.h"

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

#endif
