/* SPDX-License-Identifier: MIT */
/*
 * Rows as comma-separated values (RFC 4180, but lines end with a newline): the names first. NULL is nothing, an empty
 * text is "". Control characters other than those that end lines or are tabs are written as \x1b.
 */
#ifndef GAIT_QUERY_ROW_CSV_H
#define GAIT_QUERY_ROW_CSV_H

#include "query/query.h"

#include <stdio.h>

/* The stream stays the caller's, and outlives the receiver. */
struct query_receiver row_csv_receiver(FILE *stream);

#endif
