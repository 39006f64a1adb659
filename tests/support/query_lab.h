/* SPDX-License-Identifier: MIT */
/* The trace of query_text.h with hooked functions, and questions to it. */
#ifndef GAIT_TESTS_QUERY_LAB_H
#define GAIT_TESTS_QUERY_LAB_H

#include "support/query_text.h"

extern struct trace_folder query_lab_folder;

void query_lab_begin(void);
void query_lab_end(void);

/* As query_text. */
const char *query_lab_ask(const char *sql);

#endif
