/* SPDX-License-Identifier: MIT */
/* The trace of query_text.h with hooked functions, and questions to it. */
#ifndef GAIT_TESTS_QUERY_LAB_H
#define GAIT_TESTS_QUERY_LAB_H

#include "query/query_source.h"
#include "support/query_text.h"
#include "view/view_trace.h"

extern struct trace_folder query_lab_folder;

void query_lab_begin(void);
void query_lab_end(void);

/* The same trace, open for who looks at it without SQL. Ends the program if that fails. */
struct query_lab {
    struct trace_folder folder;
    struct view_trace trace;
    struct query_source source;
};

void query_lab_init(struct query_lab *lab);
void query_lab_deinit(struct query_lab *lab);

/* As query_text. */
const char *query_lab_ask(const char *sql);

#endif
