/* SPDX-License-Identifier: MIT */
/*
 * The cursor of tables whose rows are detail records of one kind, each at a place in a function: its thread, its
 * function and conditions on these. One thread at a time.
 */
#ifndef GAIT_QUERY_PLACED_DETAILS_H
#define GAIT_QUERY_PLACED_DETAILS_H

#include "query/detail_scan.h"

/* What a table's cursor begins with. */
struct placed_details {
    struct query_cursor base;
    struct detail_scan scan; /* its record is that of the row */
    struct place_verdicts verdicts;
    uint32_t function; /* number, of the row */
};

/* As of struct query_table. */
double placed_details_cost(const struct query_source *source);
int placed_details_begin(struct query_cursor *base);
void placed_details_end(struct query_cursor *base);

/* The next record of that kind; 0: there is none. */
int placed_details_next(struct placed_details *details, uint32_t kind);

#endif
