/* SPDX-License-Identifier: MIT */
/*
 * The contract for tables. A table is one line in query_tables.def and one file table_<name>.c, which defines
 * `const struct query_table query_table_<name>`; docs/howto/add_query_table.md shows how. Rows are pulled one by one.
 */
#ifndef GAIT_QUERY_QUERY_TABLE_H
#define GAIT_QUERY_QUERY_TABLE_H

#include "query/query.h"
#include "query/query_filter.h"
#include "query/query_source.h"

#include <sqlite3.h>

/* What a table does itself with conditions of a column, so that fewer rows come to SQLite, which looks again. */
enum query_push {
    QUERY_PUSH_NUMBER = 1u << 0, /* those that compare it with numbers */
    QUERY_PUSH_TEXT = 1u << 1,   /* those that compare it with texts */
    QUERY_PUSH_THREAD = 1u << 2, /* and these leave whole threads out */
};

/* In which order rows are to come, if the table can do that. */
struct query_order {
    int column;
    bool is_descending;
};

#define QUERY_ORDERS_MAX 4

/* What is wanted of a table: columns, rows, and their order. */
struct query_wish {
    uint64_t columns; /* bit n: column n is asked for; the last bit stands for all that have none */
    struct query_order orders[QUERY_ORDERS_MAX];
    size_t order_count;   /* of those that the table promised to keep */
    bool is_distinct;     /* with an order: rows that are alike in all columns that are wanted may be returned once */
    bool has_limit;       /* perhaps only the first few are wanted */
    bool has_row_numbers; /* the statement asks for rowid, of this table or another one */
};

/* What a table's own cursor begins with. */
struct query_cursor {
    sqlite3_vtab_cursor base;
    struct query_source *source;
    const struct query_table *table;
    struct query_filter filter;
    struct query_wish wish;
    bool is_begun;
    bool is_over;
    int64_t row;
};

struct query_table {
    const char *name;
    const char *meaning;
    const struct query_column *columns;
    size_t column_count;
    size_t cursor_bytes; /* of what begins with a struct query_cursor; zeroed before begin */
    /* About how many rows there are, and what it costs to read them all, where a row in memory costs 1. */
    double (*cost)(const struct query_source *source);
    /* Whether rows can come in that order if only these columns are wanted. NULL: never. */
    bool (*keeps_order)(const struct query_wish *wish);
    /* Begins to read; -ENOMEM, or -EIO with the reason noted in the source. After an error, end is called. */
    int (*begin)(struct query_cursor *cursor);
    /* 1: at the next row, or the first one; 0: there are no more; negative: as of begin. */
    int (*next)(struct query_cursor *cursor);
    void (*column)(struct query_cursor *cursor, sqlite3_context *result, int column);
    void (*end)(struct query_cursor *cursor);
};

/* For tables whose zeroed cursor is where reading begins, and has nothing to give back. */
int query_cursor_begin_nothing(struct query_cursor *cursor);
void query_cursor_end_nothing(struct query_cursor *cursor);

const struct query_table *query_tables_get(size_t which);

/* Makes a table known under a name; both outlive the database. A result of SQLite's. */
MUST_USE int query_module_register(sqlite3 *database, const char *name, const struct query_table *table,
                                   struct query_source *source);

/* All tables, under their names behind that prefix. */
MUST_USE int query_tables_register(sqlite3 *database, const char *prefix, struct query_source *source);

static inline bool query_wants(const struct query_wish *wish, int column)
{
    return (wish->columns & 1ull << (column < 63 ? column : 63)) != 0;
}

#endif
