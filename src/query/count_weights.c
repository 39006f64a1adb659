/* SPDX-License-Identifier: MIT */
/*
 * With one SELECT, one cursor and no other function there is nothing between the cursor and count(*): no join that
 * would multiply rows, no query within or around, nothing that adds values up. What is left shows in when count(*) is
 * called: where rows are sorted first, or kept for another reason, it is called when the cursor is at no row. count(x)
 * may mean distinct values, which it does not learn, and is refused. Both happen before a row depends on it.
 */
#include "query/count_weights.h"

#include <sqlite3.h>
#include <stdio.h>

/* ---- what a statement does --------------------------------------------------------------------------------------- */

void count_weights_begin(struct count_weights *weights)
{
    *weights = (struct count_weights){.cursor_count = weights->cursor_count};
}

void count_weights_note_select(struct count_weights *weights)
{
    weights->select_count++;
}

void count_weights_note_function(struct count_weights *weights, const char *name)
{
    if (sqlite3_stricmp(name, "count") == 0)
        weights->has_count = true;
    else if (sqlite3_stricmp(name, "like") != 0 && sqlite3_stricmp(name, "glob") != 0)
        weights->has_other_functions = true;
}

void count_weights_note_read(struct count_weights *weights, const char *table, const char *column)
{
    if (weights->table[0] == '\0')
        snprintf(weights->table, sizeof(weights->table), "%s", table);
    weights->has_other_tables |= sqlite3_stricmp(weights->table, table) != 0;
    weights->has_row_numbers |= sqlite3_stricmp(column, "ROWID") == 0;
}

bool count_weights_allow(const struct count_weights *weights)
{
    return !weights->is_over && weights->select_count == 1 && weights->cursor_count == 1 && weights->has_count &&
           !weights->has_other_functions && !weights->has_other_tables && !weights->has_row_numbers;
}

bool count_weights_number(struct count_weights *weights)
{
    if (weights->is_plain || weights->has_row_numbers)
        return true;
    weights->is_refused = weights->is_plain = true;
    return false;
}

bool count_weights_give_up(struct count_weights *weights)
{
    bool is_refused = weights->is_refused, is_plain = weights->is_plain;

    if (!is_refused)
        return false;
    count_weights_begin(weights);
    weights->is_over = true;
    weights->is_plain = is_plain;
    return true;
}

/* ---- count() ----------------------------------------------------------------------------------------------------- */

static void add_row(sqlite3_context *context, int argument_count, sqlite3_value **arguments)
{
    struct count_weights *weights = sqlite3_user_data(context);
    int64_t *count = sqlite3_aggregate_context(context, sizeof(*count));

    if (weights->is_weighing && (argument_count != 0 || weights->weight == 0)) {
        weights->is_refused = true;
        sqlite3_result_error(context, "rows are needed one by one", -1);
        return;
    }
    if (count != NULL && (argument_count == 0 || sqlite3_value_type(arguments[0]) != SQLITE_NULL))
        *count += weights->is_weighing ? (int64_t)weights->weight : 1;
}

/* Of windows, which have no weights. */
static void take_row_off(sqlite3_context *context, int argument_count, sqlite3_value **arguments)
{
    int64_t *count = sqlite3_aggregate_context(context, sizeof(*count));

    if (count != NULL && (argument_count == 0 || sqlite3_value_type(arguments[0]) != SQLITE_NULL))
        --*count;
}

static void put_count(sqlite3_context *context)
{
    const int64_t *count = sqlite3_aggregate_context(context, 0);

    sqlite3_result_int64(context, count == NULL ? 0 : *count);
}

int count_weights_register(struct count_weights *weights, struct sqlite3 *database)
{
    int result = SQLITE_OK;

    for (int arguments = 0; arguments < 2 && result == SQLITE_OK; arguments++)
        result = sqlite3_create_window_function(database, "count", arguments,
                                                SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, weights, add_row,
                                                put_count, put_count, take_row_off, NULL);
    return result;
}
