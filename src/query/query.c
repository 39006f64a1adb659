/* SPDX-License-Identifier: MIT */
/*
 * A database of SQLite in memory that has nothing but our tables. The author of the query may not be the owner of the
 * trace: so nothing is allowed but reading, which SQLite asks about before it runs a statement.
 */
#include "query/query_table.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 2000 /* as SQLite's own */

struct run {
    sqlite3 *database;
    struct count_weights *weights;
    const struct query_receiver *receiver;
    struct query_value *values;
    const char **names;
    struct gait_error *err;
};

/* ---- what is allowed --------------------------------------------------------------------------------------------- */

static bool is_allowed_pragma(const char *name)
{
    static const char *const allowed[] = {"table_info", "table_xinfo", "table_list", "function_list",
                                          "compile_options"};

    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
        if (sqlite3_stricmp(name, allowed[i]) == 0)
            return true;
    return false;
}

static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *inner)
{
    (void)database;
    (void)inner;
    switch (action) {
    case SQLITE_SELECT:
        count_weights_note_select(context);
        return SQLITE_OK;
    case SQLITE_READ:
        count_weights_note_read(context, first, second);
        return SQLITE_OK;
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        count_weights_note_function(context, second);
        return sqlite3_stricmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
        return is_allowed_pragma(first) ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

/* A table that is first used declares itself, for which SQLite asks as if it were made: so that is done before. */
static void use_table(sqlite3 *database, const char *name)
{
    char *sql = sqlite3_mprintf("SELECT 1 FROM \"%w\"", name);
    sqlite3_stmt *statement = NULL;

    if (sql != NULL && sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK)
        sqlite3_finalize(statement);
    sqlite3_free(sql);
}

static void use_tables(sqlite3 *database)
{
    static const char *const others[] = {"json_each",
                                         "json_tree",
                                         "pragma_table_info",
                                         "pragma_table_xinfo",
                                         "pragma_table_list",
                                         "pragma_function_list",
                                         "pragma_compile_options"};

    for (size_t i = 0; query_tables_get(i) != NULL; i++)
        use_table(database, query_tables_get(i)->name);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        use_table(database, others[i]);
}

static int open_database(sqlite3 **database_out, struct query_source *source)
{
    int result = sqlite3_open_v2(":memory:", database_out, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

    if (result == SQLITE_OK)
        result = query_tables_register(*database_out, "", source);
    if (result == SQLITE_OK)
        result = sqlite3_db_config(*database_out, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (result == SQLITE_OK)
        result = count_weights_register(&source->weights, *database_out);
    if (result == SQLITE_OK)
        use_tables(*database_out);
    if (result == SQLITE_OK)
        result = sqlite3_set_authorizer(*database_out, authorize, &source->weights);
    return result;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static int fail(const struct run *run, int code)
{
    if (code == SQLITE_NOMEM)
        return error_set(run->err, ENOMEM, "cannot run the query: there is no memory; try to free some");
    if (code == SQLITE_AUTH)
        return error_set(run->err, EPERM,
                         "cannot run the query: %s: a trace can be read, not changed; try SELECT, or 'gait export -f "
                         "sqlite' for a database of your own",
                         sqlite3_errmsg(run->database));
    return error_set(run->err, EINVAL, "cannot run the query: %s", sqlite3_errmsg(run->database));
}

static struct query_value value_of(sqlite3_stmt *statement, int column)
{
    struct query_value value = {.type = QUERY_NULL, .bytes = ""};

    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        value.type = QUERY_INTEGER;
        value.integer = sqlite3_column_int64(statement, column);
        break;
    case SQLITE_FLOAT:
        value.type = QUERY_REAL;
        value.real = sqlite3_column_double(statement, column);
        break;
    case SQLITE_TEXT:
        value.type = QUERY_TEXT;
        value.bytes = (const char *)sqlite3_column_text(statement, column);
        value.size_bytes = (size_t)sqlite3_column_bytes(statement, column);
        break;
    case SQLITE_BLOB:
        value.type = QUERY_BLOB;
        value.bytes = sqlite3_column_blob(statement, column);
        value.size_bytes = (size_t)sqlite3_column_bytes(statement, column);
        break;
    default:
        break;
    }
    if (value.bytes == NULL)
        value.bytes = "";
    return value;
}

/* The same statement once more, up to the row that it was at. */
static int begin_again(const struct run *run, sqlite3_stmt **statement, uint64_t emitted)
{
    sqlite3_stmt *again = NULL;
    int code = sqlite3_prepare_v2(run->database, sqlite3_sql(*statement), -1, &again, NULL);

    if (code != SQLITE_OK)
        return code;
    sqlite3_finalize(*statement);
    *statement = again;
    code = sqlite3_step(again);
    for (; emitted > 0 && code == SQLITE_ROW; emitted--)
        code = sqlite3_step(again);
    return code;
}

static int step(const struct run *run, sqlite3_stmt **statement, uint64_t emitted)
{
    int code = sqlite3_step(*statement);

    while (code != SQLITE_ROW && code != SQLITE_DONE && count_weights_give_up(run->weights))
        code = begin_again(run, statement, emitted);
    return code;
}

static int emit_rows(const struct run *run, sqlite3_stmt **statement, int count)
{
    const struct query_receiver *receiver = run->receiver;
    uint64_t emitted = 0;
    int code, result = 0;

    for (int i = 0; i < count; i++)
        run->names[i] = sqlite3_column_name(*statement, i);
    if (count != 0)
        result = receiver->begin(receiver->context, run->names, (size_t)count);
    while (result == 0) {
        code = step(run, statement, emitted++);
        if (code == SQLITE_DONE)
            break;
        if (code != SQLITE_ROW) {
            result = fail(run, code);
            /* What there is of the table is shown, before it is said what went wrong. */
            (void)receiver->end(receiver->context);
            return result;
        }
        for (int i = 0; i < count; i++)
            run->values[i] = value_of(*statement, i);
        result = receiver->row(receiver->context, run->values, (size_t)count);
    }
    return result == 0 && count != 0 ? receiver->end(receiver->context) : result;
}

static int run_statements(const struct run *run, const char *sql)
{
    int result = 0;

    while (result == 0 && *sql != '\0') {
        sqlite3_stmt *statement;
        int code;

        count_weights_begin(run->weights);
        code = sqlite3_prepare_v2(run->database, sql, -1, &statement, &sql);
        if (code != SQLITE_OK)
            return fail(run, code);
        /* NULL: a comment, or nothing. */
        if (statement != NULL)
            result = emit_rows(run, &statement, sqlite3_column_count(statement));
        sqlite3_finalize(statement);
    }
    return result;
}

int query_run(const struct view_trace *trace, const char *sql, const struct query_receiver *receiver,
              struct gait_error *err)
{
    struct query_source source;
    struct run run = {.receiver = receiver, .err = err, .weights = &source.weights};
    int result = query_source_init(&source, trace, NULL);

    if (result != 0)
        return error_set(err, ENOMEM, "cannot run the query: there is no memory; try to free some");
    run.values = calloc(COLUMNS_MAX, sizeof(*run.values));
    run.names = calloc(COLUMNS_MAX, sizeof(char *));
    result = run.values == NULL || run.names == NULL ? SQLITE_NOMEM : open_database(&run.database, &source);
    result = result != SQLITE_OK ? fail(&run, result) : run_statements(&run, sql);
    sqlite3_close(run.database);
    if (result == 0 && source.problem != 0) {
        result = source.problem;
        if (err != NULL)
            *err = source.why;
    }
    query_source_deinit(&source);
    free(run.names);
    free(run.values);
    return result;
}
