/* SPDX-License-Identifier: MIT */
/*
 * Rows that stand for many. Where nothing in a statement looks at rows but count(*), a cursor may return those that are
 * alike once, with their number as the weight that count(*) adds. What a statement does is known from what SQLite asks
 * about while it prepares it; should something turn out to want rows one by one nevertheless, or their numbers, the
 * statement is prepared and run again without weights. One thread at a time.
 */
#ifndef GAIT_QUERY_COUNT_WEIGHTS_H
#define GAIT_QUERY_COUNT_WEIGHTS_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

struct sqlite3;

struct count_weights {
    /* Of the statement. */
    unsigned select_count;
    bool has_count;           /* count(*), or count of something */
    bool has_other_functions; /* but for those that only compare texts */
    bool has_other_tables;
    bool has_row_numbers; /* it asks for rowid */
    char table[64];       /* the first one that it reads */

    /* While it runs. */
    unsigned cursor_count;
    bool is_weighing;
    uint64_t weight; /* of the row that the cursor is at; 0: it is at none */
    bool is_refused; /* the statement needs rows one by one */

    /* When it is run again. */
    bool is_over;  /* there are no weights */
    bool is_plain; /* nor do tables leave out rows: their numbers matter */
};

/* Replaces count() of a database; the weights outlive it. A result of SQLite's. */
MUST_USE int count_weights_register(struct count_weights *weights, struct sqlite3 *database);

/* A statement is about to be prepared. */
void count_weights_begin(struct count_weights *weights);
/* It has one more SELECT, calls a function, reads a column; "" for none. */
void count_weights_note_select(struct count_weights *weights);
void count_weights_note_function(struct count_weights *weights, const char *name);
void count_weights_note_read(struct count_weights *weights, const char *table, const char *column);

/* Whether a cursor may return rows with weights: asked before its first row. */
bool count_weights_allow(const struct count_weights *weights);

/*
 * SQLite wants the number of a row. It does so for itself where it reads a table for each of several conditions, to
 * find rows that it has seen already; but rows are numbered as they are returned. False: that cannot go on.
 */
bool count_weights_number(struct count_weights *weights);

/* The statement failed. True: because of weights; it is to be prepared again, without them. */
bool count_weights_give_up(struct count_weights *weights);

#endif
