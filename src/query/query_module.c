/* SPDX-License-Identifier: MIT */
/*
 * What all tables have in common for SQLite: the declaration out of their columns, which conditions they get, and how
 * rows are pulled. Plans go from xBestIndex to xFilter as a text: what is wanted, then a term for each condition.
 */
#include "query/query_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAN_BYTES     2048
#define CONDITIONS_MAX 64

struct registration {
    const struct query_table *table;
    struct query_source *source;
};

struct table_handle {
    sqlite3_vtab base;
    const struct registration *registration;
};

/* ---- declaring --------------------------------------------------------------------------------------------------- */

static int connect_table(sqlite3 *database, void *context, int argument_count, const char *const *arguments,
                         sqlite3_vtab **table_out, char **message_out)
{
    const struct registration *registration = context;
    const struct query_table *table = registration->table;
    sqlite3_str *text = sqlite3_str_new(database);
    struct table_handle *handle = sqlite3_malloc(sizeof(*handle));
    char *declaration;
    int result;

    (void)argument_count;
    (void)arguments;
    for (size_t i = 0; i < table->column_count; i++)
        sqlite3_str_appendf(text, "%s\"%w\" %s", i == 0 ? "CREATE TABLE x(" : ", ", table->columns[i].name,
                            table->columns[i].type);
    sqlite3_str_appendall(text, ")");
    declaration = sqlite3_str_finish(text);
    result = declaration == NULL || handle == NULL ? SQLITE_NOMEM : sqlite3_declare_vtab(database, declaration);
    sqlite3_free(declaration);
    if (result != SQLITE_OK) {
        *message_out = sqlite3_mprintf("%s", sqlite3_errmsg(database));
        sqlite3_free(handle);
        return result;
    }
    *handle = (struct table_handle){.registration = registration};
    *table_out = &handle->base;
    return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

/* ---- planning ---------------------------------------------------------------------------------------------------- */

static bool comparison_of(unsigned char operator, enum query_comparison * comparison_out)
{
    static const struct {
        unsigned char operator;
        enum query_comparison comparison;
    } known[] = {
        {SQLITE_INDEX_CONSTRAINT_EQ, QUERY_EQUAL},         {SQLITE_INDEX_CONSTRAINT_LT, QUERY_LESS},
        {SQLITE_INDEX_CONSTRAINT_LE, QUERY_LESS_EQUAL},    {SQLITE_INDEX_CONSTRAINT_GT, QUERY_GREATER},
        {SQLITE_INDEX_CONSTRAINT_GE, QUERY_GREATER_EQUAL}, {SQLITE_INDEX_CONSTRAINT_LIKE, QUERY_LIKE},
        {SQLITE_INDEX_CONSTRAINT_GLOB, QUERY_GLOB},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].operator== operator) {
            *comparison_out = known[i].comparison;
            return true;
        }
    return false;
}

static bool can_push(const struct query_column *column, enum query_comparison comparison, const char *collation)
{
    if (column->pushes & QUERY_PUSH_NUMBER)
        return comparison != QUERY_LIKE && comparison != QUERY_GLOB;
    /* Texts are compared byte by byte; LIKE and GLOB ask for no order of characters. */
    return column->pushes & QUERY_PUSH_TEXT &&
           (comparison == QUERY_LIKE || comparison == QUERY_GLOB ||
            (comparison == QUERY_EQUAL && sqlite3_stricmp(collation, "BINARY") == 0));
}

/* A condition makes reading cheaper by what need not be looked at, and leaves fewer rows. */
static void weigh(sqlite3_index_info *info, const struct query_source *source, const struct query_column *column,
                  enum query_comparison comparison)
{
    double rows = (double)info->estimatedRows;

    if (column->pushes & QUERY_PUSH_THREAD && comparison == QUERY_EQUAL) {
        double threads = (double)source->trace->thread_count + 1;

        info->estimatedCost /= threads;
        rows /= threads;
    } else {
        info->estimatedCost *= 0.6;
        rows *= comparison == QUERY_EQUAL ? 0.02 : 0.25;
    }
    info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
}

static void plan_conditions(const struct registration *registration, sqlite3_index_info *info, sqlite3_str *plan)
{
    const struct count_weights *weights = &registration->source->weights;
    int argument = 0;

    /* Rows have the same number, whatever is asked for with them. */
    if (weights->is_plain || weights->has_row_numbers)
        return;
    for (int i = 0; i < info->nConstraint && argument < CONDITIONS_MAX; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        const struct query_column *column;
        enum query_comparison comparison;
        bool is_list;

        if (!constraint->usable || constraint->iColumn < 0 || !comparison_of(constraint->op, &comparison))
            continue;
        column = &registration->table->columns[constraint->iColumn];
        if (!can_push(column, comparison, sqlite3_vtab_collation(info, i)))
            continue;
        is_list = sqlite3_vtab_in(info, i, 1);
        info->aConstraintUsage[i].argvIndex = ++argument;
        sqlite3_str_appendf(plan, " %d,%d,%d", constraint->iColumn, (int)comparison, (int)is_list);
        weigh(info, registration->source, column, comparison);
    }
}

/* Whether the rows can come as ORDER BY, GROUP BY or DISTINCT would have them. */
static void plan_order(const struct registration *registration, sqlite3_index_info *info, sqlite3_str *plan)
{
    const struct query_table *table = registration->table;
    struct query_wish wish = {.columns = info->colUsed,
                              .has_row_numbers = registration->source->weights.has_row_numbers};

    if (table->keeps_order == NULL || info->nOrderBy < 1 || info->nOrderBy > QUERY_ORDERS_MAX)
        return;
    for (int i = 0; i < info->nOrderBy; i++) {
        if (info->aOrderBy[i].iColumn < 0)
            return;
        wish.orders[wish.order_count++] = (struct query_order){info->aOrderBy[i].iColumn, info->aOrderBy[i].desc != 0};
    }
    if (!table->keeps_order(&wish))
        return;
    info->orderByConsumed = 1;
    for (size_t i = 0; i < wish.order_count; i++)
        sqlite3_str_appendf(plan, " %d", 2 * wish.orders[i].column + wish.orders[i].is_descending);
}

static bool has_limit(const sqlite3_index_info *info)
{
    for (int i = 0; i < info->nConstraint; i++)
        if (info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_LIMIT)
            return true;
    return false;
}

static int plan_reading(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct registration *registration = ((struct table_handle *)base)->registration;
    sqlite3_str *plan = sqlite3_str_new(NULL);
    double rows = registration->table->cost(registration->source);

    info->estimatedCost = rows;
    info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
    sqlite3_str_appendf(plan, "%lld %d %d", (sqlite3_int64)info->colUsed, sqlite3_vtab_distinct(info) >= 2,
                        (int)has_limit(info));
    plan_order(registration, info, plan);
    sqlite3_str_appendall(plan, ";");
    plan_conditions(registration, info, plan);
    info->idxStr = sqlite3_str_finish(plan);
    info->needToFreeIdxStr = 1;
    return info->idxStr == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int result_of(struct query_cursor *cursor, int result)
{
    if (result == -ENOMEM)
        return SQLITE_NOMEM;
    cursor->base.pVtab->zErrMsg =
        sqlite3_mprintf("%s", cursor->source->problem == 0 ? "the trace cannot be read" : cursor->source->why.text);
    return SQLITE_ERROR;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **cursor_out)
{
    const struct registration *registration = ((struct table_handle *)base)->registration;
    struct query_cursor *cursor = calloc(1, registration->table->cursor_bytes);

    if (cursor == NULL)
        return SQLITE_NOMEM;
    cursor->table = registration->table;
    cursor->source = registration->source;
    cursor->source->weights.cursor_count++;
    *cursor_out = &cursor->base;
    return SQLITE_OK;
}

int query_cursor_begin_nothing(struct query_cursor *cursor)
{
    (void)cursor;
    return 0;
}

void query_cursor_end_nothing(struct query_cursor *cursor)
{
    (void)cursor;
}

/* Makes it as if nothing was read: it may be used again. */
static void reset_cursor(struct query_cursor *cursor)
{
    struct query_cursor fresh = {.base = cursor->base, .table = cursor->table, .source = cursor->source};

    if (cursor->is_begun)
        cursor->table->end(cursor);
    query_filter_deinit(&cursor->filter);
    memset(cursor, 0, cursor->table->cursor_bytes);
    *cursor = fresh;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct query_cursor *cursor = (struct query_cursor *)base;

    reset_cursor(cursor);
    cursor->source->weights.cursor_count--;
    free(cursor);
    return SQLITE_OK;
}

/* Returns what follows the wish. */
static const char *read_wish(const char *plan, struct query_wish *wish)
{
    char *rest;

    wish->columns = (uint64_t)strtoll(plan, &rest, 10);
    wish->is_distinct = strtol(rest, &rest, 10) != 0;
    wish->has_limit = strtol(rest, &rest, 10) != 0;
    while (*rest == ' ' && wish->order_count < QUERY_ORDERS_MAX) {
        long term = strtol(rest, &rest, 10);

        wish->orders[wish->order_count++] = (struct query_order){(int)(term / 2), term % 2 != 0};
    }
    wish->is_distinct = wish->is_distinct && wish->order_count != 0;
    return rest + (*rest == ';');
}

static int read_conditions(struct query_cursor *cursor, const char *plan, int count, sqlite3_value **values)
{
    for (int i = 0; i < count; i++) {
        int column, comparison, is_list, used, result;

        if (sscanf(plan, " %d,%d,%d%n", &column, &comparison, &is_list, &used) != 3)
            break;
        plan += used;
        result =
            query_filter_add(&cursor->filter, column, (enum query_comparison)comparison,
                             (cursor->table->columns[column].pushes & QUERY_PUSH_TEXT) != 0, is_list != 0, values[i]);
        if (result != 0)
            return result;
    }
    return 0;
}

static int advance(sqlite3_vtab_cursor *base)
{
    struct query_cursor *cursor = (struct query_cursor *)base;
    int result = cursor->table->next(cursor);

    cursor->row++;
    cursor->is_over = result <= 0;
    return result < 0 ? result_of(cursor, result) : SQLITE_OK;
}

static int begin_reading(sqlite3_vtab_cursor *base, int number, const char *plan, int count, sqlite3_value **values)
{
    struct query_cursor *cursor = (struct query_cursor *)base;
    int result;

    (void)number;
    reset_cursor(cursor);
    cursor->wish.has_row_numbers = cursor->source->weights.has_row_numbers;
    result = read_conditions(cursor, read_wish(plan, &cursor->wish), count, values);
    if (result == 0) {
        cursor->is_begun = true;
        result = cursor->table->begin(cursor);
    }
    return result == 0 ? advance(base) : result_of(cursor, result);
}

static int is_over(sqlite3_vtab_cursor *base)
{
    return ((struct query_cursor *)base)->is_over;
}

static int put_column(sqlite3_vtab_cursor *base, sqlite3_context *result, int column)
{
    struct query_cursor *cursor = (struct query_cursor *)base;

    cursor->table->column(cursor, result, column);
    return SQLITE_OK;
}

static int put_row_number(sqlite3_vtab_cursor *base, sqlite3_int64 *row_out)
{
    struct query_cursor *cursor = (struct query_cursor *)base;

    *row_out = cursor->row;
    return count_weights_number(&cursor->source->weights) ? SQLITE_OK : SQLITE_ERROR;
}

static const sqlite3_module module = {
    .xConnect = connect_table,
    .xBestIndex = plan_reading,
    .xDisconnect = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = begin_reading,
    .xNext = advance,
    .xEof = is_over,
    .xColumn = put_column,
    .xRowid = put_row_number,
};

int query_module_register(sqlite3 *database, const char *name, const struct query_table *table,
                          struct query_source *source)
{
    struct registration *registration = malloc(sizeof(*registration));

    if (registration == NULL)
        return SQLITE_NOMEM;
    *registration = (struct registration){table, source};
    /* It frees the registration also when it fails. */
    return sqlite3_create_module_v2(database, name, &module, registration, free);
}
