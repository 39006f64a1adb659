/* SPDX-License-Identifier: MIT */
#include "query/query_filter.h"

#include "hosted/growing_array.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static void forget(struct query_condition *condition)
{
    for (size_t i = 0; condition->texts != NULL && i < condition->count; i++)
        free(condition->texts[i]);
    free(condition->texts);
    free(condition->ranges);
}

void query_filter_deinit(struct query_filter *filter)
{
    for (size_t i = 0; i < filter->count; i++)
        forget(&filter->conditions[i]);
    free(filter->conditions);
    *filter = (struct query_filter){.count = 0};
}

/* Between which integers a value is; a fraction is between two. False: it is no number. */
static bool read_number(sqlite3_value *value, struct query_range *range_out)
{
    double real;

    if (sqlite3_value_type(value) == SQLITE_INTEGER) {
        range_out->low = range_out->high = sqlite3_value_int64(value);
        return true;
    }
    if (sqlite3_value_type(value) != SQLITE_FLOAT)
        return false;
    real = sqlite3_value_double(value);
    /* What is beyond all integers is as if between the last two. */
    if (real >= 0x1p63)
        *range_out = (struct query_range){INT64_MAX - 1, INT64_MAX};
    else if (real < -0x1p63)
        *range_out = (struct query_range){INT64_MIN, INT64_MIN + 1};
    else
        *range_out = (struct query_range){(int64_t)floor(real), (int64_t)ceil(real)};
    return true;
}

/* A bound that is not met itself is left to SQLite, where it is a fraction. */
static struct query_range range_of(enum query_comparison comparison, struct query_range value)
{
    bool is_whole = value.low == value.high;

    switch (comparison) {
    case QUERY_LESS:
        return (struct query_range){INT64_MIN, is_whole && value.high > INT64_MIN ? value.high - 1 : value.high};
    case QUERY_LESS_EQUAL:
        return (struct query_range){INT64_MIN, value.high};
    case QUERY_GREATER:
        return (struct query_range){is_whole && value.low < INT64_MAX ? value.low + 1 : value.low, INT64_MAX};
    case QUERY_GREATER_EQUAL:
        return (struct query_range){value.low, INT64_MAX};
    default:
        return value;
    }
}

static int add_number(struct query_condition *condition, struct query_range range)
{
    if (ARRAY_RESERVE_NEXT(condition->ranges, condition->count) != 0)
        return -ENOMEM;
    condition->ranges[condition->count++] = range;
    return 0;
}

static int add_text(struct query_condition *condition, const char *text)
{
    char *copy = ARRAY_RESERVE_NEXT(condition->texts, condition->count) == 0 ? strdup(text) : NULL;

    if (copy == NULL)
        return -ENOMEM;
    condition->texts[condition->count++] = copy;
    return 0;
}

/* 1: it is nothing to compare with here. */
static int add_value(struct query_condition *condition, sqlite3_value *value)
{
    struct query_range range;

    if (!condition->is_text)
        return read_number(value, &range) ? add_number(condition, range_of(condition->comparison, range)) : 1;
    if (sqlite3_value_type(value) != SQLITE_TEXT)
        return 1;
    return add_text(condition, (const char *)sqlite3_value_text(value));
}

static int add_values(struct query_condition *condition, bool is_list, sqlite3_value *value)
{
    sqlite3_value *element = NULL;
    int result = 0, more;

    if (!is_list)
        return add_value(condition, value);
    for (more = sqlite3_vtab_in_first(value, &element); more == SQLITE_OK && element != NULL && result == 0;
         more = sqlite3_vtab_in_next(value, &element))
        result = add_value(condition, element);
    return result != 0 ? result : more == SQLITE_NOMEM ? -ENOMEM : 0;
}

int query_filter_add(struct query_filter *filter, int column, enum query_comparison comparison, bool is_text,
                     bool is_list, struct sqlite3_value *value)
{
    struct query_condition condition = {.column = column, .comparison = comparison, .is_text = is_text};
    int result = add_values(&condition, is_list, value);

    if (result != 0 || ARRAY_RESERVE_NEXT(filter->conditions, filter->count) != 0) {
        forget(&condition);
        return result == 1 ? 0 : -ENOMEM;
    }
    filter->conditions[filter->count++] = condition;
    return 0;
}

bool query_filter_has(const struct query_filter *filter, int column)
{
    for (size_t i = 0; i < filter->count; i++)
        if (filter->conditions[i].column == column)
            return true;
    return false;
}

static bool is_in_ranges(const struct query_condition *condition, int64_t number)
{
    for (size_t i = 0; i < condition->count; i++)
        if (condition->ranges[i].low <= number && number <= condition->ranges[i].high)
            return true;
    return false;
}

bool query_filter_takes_number(const struct query_filter *filter, int column, int64_t number)
{
    for (size_t i = 0; i < filter->count; i++)
        if (filter->conditions[i].column == column && !filter->conditions[i].is_text &&
            !is_in_ranges(&filter->conditions[i], number))
            return false;
    return true;
}

static bool is_text_of(const struct query_condition *condition, const char *text)
{
    for (size_t i = 0; i < condition->count; i++)
        if (condition->comparison == QUERY_LIKE   ? sqlite3_strlike(condition->texts[i], text, 0) == 0
            : condition->comparison == QUERY_GLOB ? sqlite3_strglob(condition->texts[i], text) == 0
                                                  : strcmp(condition->texts[i], text) == 0)
            return true;
    return false;
}

bool query_filter_takes_text(const struct query_filter *filter, int column, const char *text)
{
    for (size_t i = 0; i < filter->count; i++)
        if (filter->conditions[i].column == column && filter->conditions[i].is_text &&
            !is_text_of(&filter->conditions[i], text))
            return false;
    return true;
}

/* Of a list: from the least to the greatest. */
static struct query_range hull(const struct query_condition *condition)
{
    struct query_range hull = {INT64_MAX, INT64_MIN};

    for (size_t i = 0; i < condition->count; i++) {
        hull.low = condition->ranges[i].low < hull.low ? condition->ranges[i].low : hull.low;
        hull.high = condition->ranges[i].high > hull.high ? condition->ranges[i].high : hull.high;
    }
    return hull;
}

struct query_range query_filter_range(const struct query_filter *filter, int column)
{
    struct query_range range = {INT64_MIN, INT64_MAX};

    for (size_t i = 0; i < filter->count; i++) {
        struct query_range of_one;

        if (filter->conditions[i].column != column || filter->conditions[i].is_text)
            continue;
        of_one = hull(&filter->conditions[i]);
        range.low = of_one.low > range.low ? of_one.low : range.low;
        range.high = of_one.high < range.high ? of_one.high : range.high;
    }
    return range;
}
