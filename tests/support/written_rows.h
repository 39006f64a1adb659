/* SPDX-License-Identifier: MIT */
/* Rows of a query for those who write them, and what they write. */
#ifndef GAIT_TESTS_WRITTEN_ROWS_H
#define GAIT_TESTS_WRITTEN_ROWS_H

#include "query/query.h"

#include <stdio.h>

#define ROW_TEXT(text)                                                                                                 \
    {                                                                                                                  \
        .type = QUERY_TEXT, .bytes = text, .size_bytes = sizeof(text) - 1                                              \
    }
#define ROW_INTEGER(number)                                                                                            \
    {                                                                                                                  \
        .type = QUERY_INTEGER, .integer = number                                                                       \
    }

/* Where to write. */
FILE *written_rows_begin(void);

/* What was written; good until the next call. */
const char *written_rows_end(void);

#endif
