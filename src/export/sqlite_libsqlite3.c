/* SPDX-License-Identifier: MIT */
/*
 * A database with tables of what a trace consists of. Rows go in as calls end, in transactions of many; indexes come
 * when all are there. It is made beside the wanted file and takes its place in the end, in one step: no reader sees
 * half of one, and what was there before stays if something goes wrong.
 */
#define _GNU_SOURCE
#include "export/export_calls.h"
#include "export/export_records.h"
#include "export/export_text.h"
#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "query/call_totals.h"
#include "query/query_table.h"
#include "trace/kernel_event_text.h"
#include "view/kernel_stack.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_AT_ONCE 200000u
#define TEXT_BYTES   4096u

/*
 * The tables and columns are those of `gait query`, so that a question has the same answer here and there. What there
 * is much of is kept in compact tables of numbers (call_rows and the like), and views show it as the tables.
 */
static const char schema[] =
    "CREATE TABLE about(key TEXT PRIMARY KEY, value);"
    "CREATE TABLE function_rows(id INTEGER PRIMARY KEY, function TEXT NOT NULL, module TEXT, file TEXT, line INTEGER,"
    " pid INTEGER NOT NULL, calls INTEGER NOT NULL, total_ns INTEGER, self_ns INTEGER, min_ns INTEGER, avg_ns INTEGER,"
    " max_ns INTEGER, function_id INTEGER NOT NULL UNIQUE, address INTEGER NOT NULL);"
    "CREATE TABLE call_rows(id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES call_rows(id),"
    " thread_id INTEGER NOT NULL REFERENCES threads(thread_id),"
    " function INTEGER NOT NULL REFERENCES function_rows(id), depth INTEGER NOT NULL, start_ns INTEGER NOT NULL,"
    " duration_ns INTEGER, self_ns INTEGER, flags INTEGER NOT NULL);"
    "CREATE TABLE syscall_names(number INTEGER PRIMARY KEY, name TEXT NOT NULL);";

static const char indexes[] = "CREATE INDEX calls_by_function ON call_rows(function, duration_ns, self_ns);"
                              "CREATE INDEX calls_by_time ON call_rows(thread_id, start_ns);"
                              "CREATE INDEX calls_by_parent ON call_rows(parent_id);"
                              "CREATE INDEX functions_by_name ON function_rows(function);"
                              "CREATE INDEX kernel_events_by_name ON kernel_events(name, time_ns);"
                              "ANALYZE;";

/* How a table of `gait query` is kept. */
enum table_keeping {
    KEPT_AS_IT_IS,
    KEPT_AS_CALLS,     /* in call_rows */
    KEPT_AS_FUNCTIONS, /* in function_rows */
    KEPT_BY_NUMBERS,   /* in rows without what follows from the function and the thread */
};

struct kept_table {
    const char *name;
    enum table_keeping keeping;
    const char *rows; /* where it is kept, if that has another name */
    const char *time; /* the column by which a range of time is chosen; NULL: all belongs to it */
    bool is_of_threads;
};

static const struct kept_table kept_tables[] = {
    {"threads", KEPT_AS_IT_IS, NULL, NULL, false},
    {"processes", KEPT_AS_IT_IS, NULL, NULL, false},
    {"modules", KEPT_AS_IT_IS, NULL, NULL, false},
    {"triggers", KEPT_AS_IT_IS, NULL, "time_ns", false},
    {"losses", KEPT_AS_IT_IS, NULL, "time_ns", false},
    {"details", KEPT_BY_NUMBERS, "detail_rows", "start_ns", true},
    {"stacks", KEPT_BY_NUMBERS, "stack_rows", "time_ns", true},
    {"probes", KEPT_BY_NUMBERS, "probe_rows", "time_ns", true},
    {"syscalls", KEPT_BY_NUMBERS, "syscall_rows", "start_ns", true},
    {"events", KEPT_BY_NUMBERS, "event_rows", "time_ns", true},
    {"kernel_events", KEPT_AS_IT_IS, NULL, NULL, false},
    {"calls", KEPT_AS_CALLS, "call_rows", NULL, false},
    {"functions", KEPT_AS_FUNCTIONS, "function_rows", NULL, false},
};

/* How a view shows a column that its rows do not have: of the rows, the function or the thread. */
static const struct {
    const char *table; /* NULL: any */
    const char *column;
    const char *shown;
} shown_columns[] = {
    {NULL, "function", "functions.function"},
    {NULL, "module", "functions.module"},
    {NULL, "file", "functions.file"},
    {NULL, "line", "functions.line"},
    {NULL, "address", "functions.address"},
    {"syscalls", "pid", "coalesce(rows.maker, threads.pid)"},
    {"syscalls", "tid", "coalesce(rows.maker, threads.tid)"},
    {NULL, "pid", "threads.pid"},
    {NULL, "tid", "threads.tid"},
    {NULL, "thread", "threads.thread"},
    {"calls", "function_id", "functions.function_id"},
    /* No join: where it is not asked for, nothing is looked up. */
    {"calls", "caller",
     "(SELECT callers.function FROM call_rows AS outer_rows JOIN function_rows AS callers"
     " ON callers.id = outer_rows.function WHERE outer_rows.id = rows.parent_id)"},
    {"calls", "flags",
     "nullif(substr(CASE rows.flags & 1 WHEN 0 THEN '' ELSE ',guessed' END ||"
     " CASE rows.flags & 2 WHEN 0 THEN '' ELSE ',cut' END ||"
     " CASE rows.flags & 4 WHEN 0 THEN '' ELSE ',unwound' END ||"
     " CASE rows.flags & 8 WHEN 0 THEN '' ELSE ',no return' END ||"
     " CASE rows.flags & 32 WHEN 0 THEN '' ELSE ',suspended' END ||"
     " CASE rows.flags & 64 WHEN 0 THEN '' ELSE ',resumed' END ||"
     " CASE rows.flags & 128 WHEN 0 THEN '' ELSE ',entry only' END, 2), '')"},
    {"calls", "end_ns", "rows.start_ns + rows.duration_ns"},
    {"syscalls", "name", "names.name"},
    {"syscalls", "error", "CASE WHEN rows.result BETWEEN -4095 AND -1 THEN -rows.result END"},
};

_Static_assert(CALL_GUESSED == 1 && CALL_CUT == 2 && CALL_UNWOUND == 4 && CALL_NO_RETURN == 8, "the view says so");
_Static_assert(CALL_SUSPENDED == 32 && CALL_RESUMED == 64, "the view says so");

/* Of a function, in ticks. */
struct function_total {
    struct call_total total;
    uint32_t open_count;
};

struct database {
    const struct export_job *job;
    sqlite3 *handle;
    struct query_source source;
    sqlite3_stmt *add_call;
    sqlite3_stmt *add_kernel_event;
    int64_t *open; /* numbers of the calls of the thread that are open, by depth */
    size_t open_capacity;
    int64_t call_count;
    struct function_total *totals; /* by the number of the function */
    size_t total_count;
    size_t function_count; /* of those that rows are of */
    uint64_t row_count;    /* in this transaction */
    int result;            /* an errno number, negated; the handle knows the reason, unless it is -ENOMEM */
};

/* ---- statements -------------------------------------------------------------------------------------------------- */

static int fail(struct database *database, int code)
{
    if (database->result == 0)
        database->result = code == SQLITE_NOMEM ? -ENOMEM : code == SQLITE_FULL ? -ENOSPC : -EIO;
    return database->result;
}

static int run(struct database *database, const char *text)
{
    int code = sqlite3_exec(database->handle, text, NULL, NULL, NULL);

    return code == SQLITE_OK ? 0 : fail(database, code);
}

static sqlite3_stmt *prepare(struct database *database, const char *text)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(database->handle, text, -1, &statement, NULL);

    if (code != SQLITE_OK)
        (void)fail(database, code);
    return statement;
}

/* Adds the row whose values are bound. */
static int add_row(struct database *database, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);

    (void)sqlite3_reset(statement);
    if (code != SQLITE_DONE)
        return fail(database, code);
    if (++database->row_count < ROWS_AT_ONCE)
        return 0;
    database->row_count = 0;
    return run(database, "COMMIT; BEGIN");
}

static void bind_number(sqlite3_stmt *statement, int which, uint64_t number)
{
    (void)sqlite3_bind_int64(statement, which, (int64_t)number);
}

static void bind_text(sqlite3_stmt *statement, int which, const char *text)
{
    char clean[TEXT_BYTES];
    size_t length = export_text_clean(clean, sizeof(clean), text);

    (void)sqlite3_bind_text(statement, which, clean, (int)length, SQLITE_TRANSIENT);
}

/* ---- what it is about -------------------------------------------------------------------------------------------- */

static void add_about(struct database *database)
{
    const struct manifest *manifest = &database->job->trace->manifest;
    sqlite3_stmt *statement = prepare(database, "INSERT INTO about VALUES (?, ?)");

    if (statement == NULL)
        return;
    bind_text(statement, 1, "writer");
    bind_text(statement, 2, "gait");
    (void)add_row(database, statement);
    bind_text(statement, 1, "program");
    bind_text(statement, 2, manifest->program == NULL ? "" : manifest->program);
    (void)add_row(database, statement);
    bind_text(statement, 1, "began_unix_ns");
    bind_number(statement, 2, (uint64_t)manifest->began_unix_ns);
    (void)add_row(database, statement);
    (void)sqlite3_finalize(statement);
}

/* ---- tables of a query ------------------------------------------------------------------------------------------- */

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* What a view shows of a column; NULL: what its rows have. */
static const char *shown_of(const struct kept_table *table, const char *column)
{
    for (size_t i = 0; i < sizeof(shown_columns) / sizeof(shown_columns[0]); i++)
        if (strcmp(shown_columns[i].column, column) == 0 &&
            (shown_columns[i].table == NULL || strcmp(shown_columns[i].table, table->name) == 0))
            return shown_columns[i].shown;
    return NULL;
}

static bool find_text(const char *name, struct query_table_text *text_out)
{
    for (size_t i = 0; query_tables_describe(i, text_out); i++)
        if (strcmp(text_out->name, name) == 0)
            return true;
    return false;
}

/* Whether the table's own rows have the column. */
static bool is_kept(const struct kept_table *table, const char *column)
{
    return table->keeping == KEPT_AS_IT_IS || shown_of(table, column) == NULL;
}

static const char *rows_of(const struct kept_table *table)
{
    return table->rows == NULL ? table->name : table->rows;
}

/* Runs a statement, which it frees. */
static void run_made(struct database *database, sqlite3_str *text)
{
    char *made = sqlite3_str_finish(text);

    if (made == NULL)
        (void)fail(database, SQLITE_NOMEM);
    else if (database->result == 0)
        (void)run(database, made);
    sqlite3_free(made);
}

static void create_rows(struct database *database, const struct kept_table *table, const struct query_table_text *text)
{
    sqlite3_str *made = sqlite3_str_new(database->handle);
    const char *separator = "";

    sqlite3_str_appendf(made, "CREATE TABLE %s(", rows_of(table));
    for (size_t i = 0; i < text->column_count; i++) {
        const struct query_column *column = &text->columns[i];

        if (!is_kept(table, column->name))
            continue;
        sqlite3_str_appendf(made, "%s\"%w\" %s", separator, column->name, column->type);
        if (i == 0 && strcmp(column->name, "thread_id") == 0)
            sqlite3_str_appendall(made, " PRIMARY KEY");
        separator = ", ";
    }
    if (strcmp(table->name, "syscalls") == 0)
        sqlite3_str_appendall(made, ", maker INTEGER");
    sqlite3_str_appendall(made, ")");
    run_made(database, made);
}

/* The part of a table that is wanted. */
static void choose_rows(const struct database *database, const struct kept_table *table, sqlite3_str *made)
{
    const struct export_job *job = database->job;
    const char *separator = " WHERE ";

    if (job->wanted_count != 0 && table->is_of_threads) {
        sqlite3_str_appendf(made, "%sthread_id IN (SELECT thread_id FROM threads)", separator);
        separator = " AND ";
    } else if (job->wanted_count != 0 && strcmp(table->name, "losses") == 0) {
        sqlite3_str_appendf(made, "%s(tid IS NULL OR tid IN (SELECT tid FROM threads))", separator);
        separator = " AND ";
    }
    if (table->time != NULL && (job->from_ns != 0 || job->to_ns != UINT64_MAX))
        sqlite3_str_appendf(made, "%s(%s IS NULL OR %s >= %lld AND %s < %lld)", separator, table->time, table->time,
                            (sqlite3_int64)job->from_ns, table->time,
                            job->to_ns > INT64_MAX ? INT64_MAX : (sqlite3_int64)job->to_ns);
}

static void copy_rows(struct database *database, const struct kept_table *table, const struct query_table_text *text,
                      const char *condition)
{
    sqlite3_str *made = sqlite3_str_new(database->handle);
    const char *separator = "";

    sqlite3_str_appendf(made, "INSERT INTO %s SELECT ", rows_of(table));
    for (size_t i = 0; i < text->column_count; i++) {
        const struct query_column *column = &text->columns[i];

        if (!is_kept(table, column->name))
            continue;
        sqlite3_str_appendf(made, strcmp(column->type, "INTEGER") != 0 ? "%sclean(\"%w\")" : "%s\"%w\"", separator,
                            column->name);
        separator = ", ";
    }
    /* A child that shares its maker's memory is none of the threads. */
    if (strcmp(table->name, "syscalls") == 0)
        sqlite3_str_appendall(made, ", nullif(tid, (SELECT threads.tid FROM threads"
                                    " WHERE threads.thread_id = trace_syscalls.thread_id))");
    sqlite3_str_appendf(made, " FROM trace_%s", table->name);
    if (condition == NULL)
        choose_rows(database, table, made);
    else
        sqlite3_str_appendall(made, condition);
    run_made(database, made);
}

/* Those of the job. */
static void copy_threads(struct database *database, const struct kept_table *table, const struct query_table_text *text)
{
    const struct export_job *job = database->job;
    char condition[64];

    if (job->thread_count + job->silent_count == job->trace->thread_count + job->trace->silent_count) {
        copy_rows(database, table, text, "");
        return;
    }
    for (size_t i = 0; i < job->thread_count + job->silent_count; i++) {
        snprintf(condition, sizeof(condition), " WHERE thread_id = %zu", job->threads[i]);
        copy_rows(database, table, text, condition);
    }
}

/* A view under the name of the table, for one whose rows are kept elsewhere. */
static void create_view(struct database *database, const struct kept_table *table, const struct query_table_text *text)
{
    sqlite3_str *made = sqlite3_str_new(database->handle);
    bool is_of_functions = table->keeping == KEPT_AS_CALLS;

    sqlite3_str_appendf(made, "CREATE VIEW %s AS SELECT ", table->name);
    for (size_t i = 0; i < text->column_count; i++) {
        const char *name = text->columns[i].name;
        const char *shown = table->keeping == KEPT_AS_FUNCTIONS ? NULL : shown_of(table, name);

        is_of_functions = is_of_functions || strcmp(name, "function_id") == 0;
        if (shown == NULL)
            sqlite3_str_appendf(made, "%srows.\"%w\"", i == 0 ? "" : ", ", name);
        else
            sqlite3_str_appendf(made, "%s%s AS \"%w\"", i == 0 ? "" : ", ", shown, name);
    }
    sqlite3_str_appendf(made, " FROM %s AS rows", table->rows);
    if (table->keeping == KEPT_AS_FUNCTIONS)
        sqlite3_str_appendall(made, " WHERE rows.calls > 0");
    else
        sqlite3_str_appendall(made, " LEFT JOIN threads ON threads.thread_id = rows.thread_id");
    if (table->keeping == KEPT_AS_CALLS)
        sqlite3_str_appendall(made, " LEFT JOIN function_rows AS functions ON functions.id = rows.function");
    else if (table->keeping == KEPT_BY_NUMBERS && is_of_functions)
        sqlite3_str_appendall(made,
                              " LEFT JOIN function_rows AS functions ON functions.function_id = rows.function_id");
    if (strcmp(table->name, "syscalls") == 0)
        sqlite3_str_appendall(made, " LEFT JOIN syscall_names AS names ON names.number = rows.number");
    run_made(database, made);
}

enum table_step { CREATE_ROWS, COPY_ROWS, CREATE_VIEWS };

/* Does that for all tables that have it done; calls, functions and events of the kernel are added one by one. */
static void do_tables(struct database *database, enum table_step step)
{
    static const char *const own_rows[] = {"calls", "functions"}, *const own_copies[] = {"kernel_events"};

    for (size_t i = 0; i < sizeof(kept_tables) / sizeof(kept_tables[0]); i++) {
        const struct kept_table *table = &kept_tables[i];
        struct query_table_text text;

        if ((strcmp(table->name, "events") == 0 && !database->job->has_events) || !find_text(table->name, &text))
            continue;
        if (step == CREATE_VIEWS && table->rows != NULL)
            create_view(database, table, &text);
        if (step == CREATE_VIEWS || is_one_of(table->name, own_rows, 2))
            continue;
        if (step == CREATE_ROWS)
            create_rows(database, table, &text);
        else if (strcmp(table->name, "threads") == 0)
            copy_threads(database, table, &text);
        else if (!is_one_of(table->name, own_copies, 1))
            copy_rows(database, table, &text, NULL);
    }
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static void bind_text_or_null(sqlite3_stmt *statement, int which, const char *text)
{
    if (text == NULL || text[0] == '\0')
        (void)sqlite3_bind_null(statement, which);
    else
        bind_text(statement, which, text);
}

/* NULL: of none of the calls it is known. */
static void bind_span(sqlite3_stmt *statement, int which, const struct query_source *source, uint64_t ticks)
{
    if (ticks == UINT64_MAX)
        (void)sqlite3_bind_null(statement, which);
    else
        (void)sqlite3_bind_int64(statement, which, query_source_span_ns(source, ticks));
}

static void bind_totals(const struct database *database, sqlite3_stmt *statement, size_t number)
{
    const struct query_source *source = &database->source;
    const struct call_total *total = &database->totals[number].total;

    bind_number(statement, 7, number < database->total_count ? total->calls : 0);
    if (number >= database->total_count || !call_total_has_times(total)) {
        for (int i = 8; i <= 12; i++)
            (void)sqlite3_bind_null(statement, i);
        return;
    }
    (void)sqlite3_bind_int64(statement, 8, query_source_span_ns(source, total->total));
    (void)sqlite3_bind_int64(statement, 9, query_source_span_ns(source, total->self));
    bind_span(statement, 10, source, total->shortest);
    (void)sqlite3_bind_int64(statement, 11,
                             query_source_span_ns(source, total->summed) / (int64_t)call_total_timed_calls(total));
    (void)sqlite3_bind_int64(statement, 12, query_source_span_ns(source, total->longest));
}

/* Behind what numbers them; places in stacks were numbered behind these. */
static void add_functions(struct database *database)
{
    const struct view_trace *trace = database->job->trace;
    struct view_functions *functions = database->job->functions;
    sqlite3_stmt *statement =
        prepare(database, "INSERT INTO function_rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

    view_functions_prepare(functions);
    for (size_t i = 0; statement != NULL && i < database->function_count; i++) {
        const struct view_function *function = view_functions_at(functions, (uint32_t)i);

        bind_number(statement, 1, i);
        bind_text(statement, 2, function->name);
        bind_text_or_null(statement, 3, function->module == NULL ? NULL : export_last_name(function->module->path));
        bind_text_or_null(statement, 4, function->file);
        if (function->line == 0)
            (void)sqlite3_bind_null(statement, 5);
        else
            bind_number(statement, 5, function->line);
        bind_number(statement, 6, trace->processes[function->process].pid);
        bind_totals(database, statement, i);
        (void)sqlite3_bind_int64(statement, 13, view_functions_id(functions, (uint32_t)i));
        bind_number(statement, 14, function->address);
        (void)add_row(database, statement);
    }
    (void)sqlite3_finalize(statement);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static int begin_total(struct database *database, uint32_t function)
{
    size_t count = (size_t)function + 1 + function / 2;
    struct function_total *grown;

    if (function >= database->total_count) {
        grown = realloc(database->totals, count * sizeof(*grown));
        if (grown == NULL)
            return database->result = -ENOMEM;
        for (size_t i = database->total_count; i < count; i++)
            grown[i] = (struct function_total){.total.shortest = UINT64_MAX};
        database->totals = grown;
        database->total_count = count;
    }
    database->totals[function].open_count++;
    return 0;
}

static void add_to_total(struct function_total *function, const struct export_call *call)
{
    call_total_add(&function->total, call->ticks, call->inner_ticks, --function->open_count == 0);
    function->total.calls -= (call->flags & CALL_RESUMED) != 0;
    function->total.entry_only += (call->flags & CALL_ENTRY_ONLY) != 0;
    if (!(call->flags & (CALL_SUSPENDED | CALL_ENTRY_ONLY)))
        call_total_add_time(&function->total, call->earlier_ticks + call->ticks);
}

/* Numbers are in the order in which calls begin, so that an outer one is known to those in it. */
static int number_call(void *context, const struct export_call *call)
{
    struct database *database = context;

    if (ARRAY_RESERVE(database->open, database->open_capacity, call->depth + 1) != 0)
        return database->result = -ENOMEM;
    database->open[call->depth] = ++database->call_count;
    return begin_total(database, call->function);
}

static int add_call(void *context, const struct export_call *call)
{
    struct database *database = context;
    sqlite3_stmt *statement = database->add_call;
    uint64_t duration_ns = call->end_ns - call->begin_ns;

    (void)sqlite3_bind_int64(statement, 1, database->open[call->depth]);
    if (call->depth == 0)
        (void)sqlite3_bind_null(statement, 2);
    else
        (void)sqlite3_bind_int64(statement, 2, database->open[call->depth - 1]);
    bind_number(statement, 3, call->thread);
    bind_number(statement, 4, call->function);
    bind_number(statement, 5, call->depth);
    bind_number(statement, 6, call->begin_ns);
    if (call->flags & CALL_ENTRY_ONLY) {
        (void)sqlite3_bind_null(statement, 7);
        (void)sqlite3_bind_null(statement, 8);
    } else {
        bind_number(statement, 7, duration_ns);
        bind_number(statement, 8, duration_ns - call->inner_ns);
    }
    bind_number(statement, 9,
                call->flags & (CALL_GUESSED | CALL_CUT | CALL_UNWOUND | CALL_NO_RETURN | CALL_SUSPENDED | CALL_RESUMED |
                               CALL_ENTRY_ONLY));
    add_to_total(&database->totals[call->function], call);
    return add_row(database, statement) != 0;
}

/* A text that is made, and may be longer than others; NULL: there is none. */
static void bind_made(sqlite3_stmt *statement, int which, char *text)
{
    if (text == NULL)
        (void)sqlite3_bind_null(statement, which);
    else
        (void)sqlite3_bind_text(statement, which, text, -1, free);
}

static char *make_fields(const struct export_kernel_event *told)
{
    char *text = NULL;
    size_t size_bytes = 0;
    FILE *stream = open_memstream(&text, &size_bytes);

    if (stream == NULL)
        return NULL;
    kernel_event_put_json(stream, told->source, told->event, JSON_CLEAN);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

static int add_kernel_event(void *context, const struct export_kernel_event *told)
{
    struct database *database = context;
    sqlite3_stmt *statement = database->add_kernel_event;
    char *fields = make_fields(told);

    if (fields == NULL)
        return database->result = -ENOMEM;
    bind_number(statement, 1, told->time_ns);
    bind_text(statement, 2, told->source->name);
    bind_number(statement, 3, told->event->pid);
    bind_number(statement, 4, told->event->tid);
    bind_text_or_null(statement, 5, told->thread);
    bind_number(statement, 6, told->event->cpu);
    bind_made(statement, 7, fields);
    bind_made(statement, 8, kernel_stack_write(database->job->functions, told->sources, told->event));
    bind_text(statement, 9, told->source->spec);
    return add_row(database, statement) != 0;
}

static int add_calls(struct database *database, struct gait_error *err)
{
    const struct export_receiver receiver = {number_call, add_call, NULL, database};
    int result = 0;

    database->add_call = prepare(database, "INSERT INTO call_rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (database->result == 0)
        result = export_calls_read_all(database->job, &receiver, err);
    (void)sqlite3_finalize(database->add_call);
    return result;
}

static int add_kernel_events(struct database *database, int result, struct gait_error *err)
{
    const struct export_kernel_receiver kernel = {add_kernel_event, database};

    database->add_kernel_event =
        prepare(database, "INSERT INTO kernel_events(time_ns, name, pid, tid, thread, cpu, fields, stack, spec)"
                          " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (database->result == 0)
        result = export_kernel_behind(database->job, result, &kernel, err);
    (void)sqlite3_finalize(database->add_kernel_event);
    return result;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* Texts of programs, as formats write them. */
static void clean(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *text = (const char *)sqlite3_value_text(values[0]);
    size_t room = 3 * (size_t)sqlite3_value_bytes(values[0]) + 1;
    char *copy;

    (void)count;
    if (text == NULL)
        return;
    /* Most need nothing: a number in a column of texts stays one. */
    copy = sqlite3_value_type(values[0]) == SQLITE_TEXT ? sqlite3_malloc64(room) : NULL;
    if (copy == NULL) {
        sqlite3_result_value(context, values[0]);
        return;
    }
    sqlite3_result_text(context, copy, (int)export_text_clean(copy, room, text), sqlite3_free);
}

/* The tables of the trace, as trace_calls and so on. */
static int use_trace(struct database *database)
{
    int code = query_tables_register(database->handle, "trace_", &database->source);

    if (code == SQLITE_OK)
        code = sqlite3_create_function(database->handle, "clean", 1, SQLITE_UTF8, NULL, clean, NULL, NULL);
    return code == SQLITE_OK ? 0 : fail(database, code);
}

/* The result is that of reading; what the database says is in database->result. */
static int fill(struct database *database, struct gait_error *err)
{
    int result;

    /* If it fails there is no file: nothing has to be kept safe meanwhile. */
    if (run(database, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536; BEGIN") != 0 ||
        run(database, schema) != 0 || use_trace(database) != 0)
        return 0;
    add_about(database);
    do_tables(database, CREATE_ROWS);
    result = database->result == 0 ? add_calls(database, err) : 0;
    do_tables(database, COPY_ROWS);
    if (database->result == 0)
        (void)run(database, "INSERT INTO syscall_names SELECT DISTINCT number, name FROM trace_syscalls");
    if (result == 0 && database->source.problem != 0) {
        result = database->source.problem;
        if (err != NULL)
            *err = database->source.why;
    }
    database->function_count = database->job->functions->count;
    result = add_kernel_events(database, result, err);
    if (database->result == 0)
        add_functions(database);
    if (database->result == 0)
        (void)run(database, indexes);
    do_tables(database, CREATE_VIEWS);
    if (database->result == 0)
        (void)run(database, "COMMIT");
    return result;
}

static int explain(struct database *database, struct gait_error *err)
{
    const char *reason = database->handle == NULL || database->result == -ENOMEM ? "there is no memory"
                                                                                 : sqlite3_errmsg(database->handle);

    return error_set(err, database->result, "cannot write '%s': %s", database->job->path, reason);
}

static int write_beside(struct database *database, const char *path, struct gait_error *err)
{
    int code = sqlite3_open_v2(path, &database->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    int result = 0;

    if (code != SQLITE_OK)
        (void)fail(database, code);
    else
        result = fill(database, err);
    if (database->result != 0)
        result = explain(database, err);
    if (sqlite3_close(database->handle) != SQLITE_OK && database->result == 0)
        result = error_set(err, EIO, "cannot write '%s': the database cannot be closed", database->job->path);
    if (database->result == 0 && rename(path, database->job->path) != 0) {
        database->result = -errno;
        result = error_set(err, errno, "cannot write '%s': %s", database->job->path, strerror(errno));
    }
    if (database->result != 0)
        unlink(path);
    return result;
}

static int write_sqlite(const struct export_job *job, struct gait_error *err)
{
    struct database database = {.job = job};
    char *path;
    int result;

    if (asprintf(&path, "%s.%ld.part", job->path, (long)getpid()) < 0)
        return error_set(err, ENOMEM, "cannot write '%s': there is no memory", job->path);
    /* One of somebody who had our number. */
    unlink(path);
    view_functions_want_sources(job->functions);
    if (query_source_init(&database.source, job->trace, job->functions) != 0)
        result = error_set(err, ENOMEM, "cannot write '%s': there is no memory", job->path);
    else {
        result = write_beside(&database, path, err);
        query_source_deinit(&database.source);
    }
    free(database.open);
    free(database.totals);
    free(path);
    return result;
}

extern const struct export_format export_format_sqlite;
const struct export_format export_format_sqlite = {
    .name = "sqlite",
    .file_name = "trace.sqlite",
    .kind = EXPORT_PATH,
    .can_have_events = true,
    .write = write_sqlite,
};
