/* SPDX-License-Identifier: MIT */
/* What a query tells of a small trace, as text: rows end with a newline, values are separated by "|"; NULL is "-". */
#ifndef GAIT_TESTS_QUERY_TEXT_H
#define GAIT_TESTS_QUERY_TEXT_H

#include "query/query.h"
#include "support/trace_folder.h"

/* Rows of all statements, then "! " and the error, if there is one. Good until the next call. */
const char *query_text(const char *path, const char *sql);

/* A trace of hooked functions: process 200 with threads 200 "main" and 201 "helper", in which f calls g twice. */
void query_text_put_hooked(const struct trace_folder *folder);

/* Adds details to it: two calls of f, one of which did not end, and a stack. */
void query_text_put_details(const struct trace_folder *folder);

#endif
