/* SPDX-License-Identifier: MIT */
/*
 * Conditions that rows are to meet, as far as a table can look at them before it makes rows. SQLite looks again: what
 * is accepted here may still be refused there, what is refused here is not to be seen. Values are kept: nothing points
 * into SQLite. After it is made it does not change.
 */
#ifndef GAIT_QUERY_QUERY_FILTER_H
#define GAIT_QUERY_QUERY_FILTER_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite3_value;

enum query_comparison {
    QUERY_EQUAL,
    QUERY_LESS,
    QUERY_LESS_EQUAL,
    QUERY_GREATER,
    QUERY_GREATER_EQUAL,
    QUERY_LIKE,
    QUERY_GLOB,
};

/* Inclusive. */
struct query_range {
    int64_t low;
    int64_t high;
};

struct query_condition {
    int column;
    enum query_comparison comparison;
    bool is_text;
    size_t count; /* of the values one of which it is to be; else 1 */
    struct query_range *ranges;
    char **texts;
};

struct query_filter {
    struct query_condition *conditions;
    size_t count;
};

/* All zero is a filter that accepts everything. */
void query_filter_deinit(struct query_filter *filter);

/*
 * Adds a condition: the column, compared with a value, or with one of a list of values (is_list). A value of another
 * type than the column's is left to SQLite. -ENOMEM.
 */
MUST_USE int query_filter_add(struct query_filter *filter, int column, enum query_comparison comparison, bool is_text,
                              bool is_list, struct sqlite3_value *value);

bool query_filter_has(const struct query_filter *filter, int column);
bool query_filter_takes_number(const struct query_filter *filter, int column, int64_t number);
bool query_filter_takes_text(const struct query_filter *filter, int column, const char *text);

/* What the numbers of a column can be; low > high: nothing. */
struct query_range query_filter_range(const struct query_filter *filter, int column);

#endif
