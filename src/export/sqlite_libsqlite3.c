/* SPDX-License-Identifier: MIT */
/*
 * A database with tables of what a trace consists of. Rows go in as calls end, in transactions of many; indexes come
 * when all are there. It is made beside the wanted file and takes its place in the end, in one step: no reader sees
 * half of one, and what was there before stays if something goes wrong.
 */
#define _GNU_SOURCE
#include "export/export_calls.h"
#include "export/export_kernel.h"
#include "export/export_probes.h"
#include "export/export_system_calls.h"
#include "export/export_text.h"
#include "hosted/error.h"
#include "trace/kernel_event_json.h"
#include "view/kernel_stack.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_AT_ONCE  200000u
#define OPEN_AT_FIRST 64u
#define TEXT_BYTES    4096u

static const char schema[] =
    "CREATE TABLE about(key TEXT PRIMARY KEY, value);"
    "CREATE TABLE processes(id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, image INTEGER NOT NULL,"
    " parent_pid INTEGER, command TEXT NOT NULL);"
    "CREATE TABLE threads(id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES processes(id),"
    " tid INTEGER NOT NULL, generation INTEGER NOT NULL, name TEXT NOT NULL);"
    "CREATE TABLE modules(id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES processes(id),"
    " path TEXT NOT NULL, build_id TEXT, start_address INTEGER NOT NULL, end_address INTEGER NOT NULL,"
    " file_offset INTEGER NOT NULL, loaded_ns INTEGER NOT NULL, unloaded_ns INTEGER);"
    "CREATE TABLE functions(id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES processes(id),"
    " module_id INTEGER REFERENCES modules(id), address INTEGER NOT NULL, name TEXT NOT NULL,"
    " file TEXT, line INTEGER);"
    "CREATE TABLE calls(id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES calls(id),"
    " thread_id INTEGER NOT NULL REFERENCES threads(id), function_id INTEGER NOT NULL REFERENCES functions(id),"
    " depth INTEGER NOT NULL, begin_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL, self_ns INTEGER NOT NULL,"
    " is_guessed INTEGER NOT NULL, is_cut INTEGER NOT NULL, is_unwound INTEGER NOT NULL,"
    " is_without_return INTEGER NOT NULL);"
    "CREATE TABLE losses(id INTEGER PRIMARY KEY, thread_id INTEGER NOT NULL REFERENCES threads(id),"
    " time_ns INTEGER NOT NULL, lost_bytes INTEGER NOT NULL);"
    "CREATE TABLE probes(id INTEGER PRIMARY KEY, thread_id INTEGER NOT NULL REFERENCES threads(id),"
    " name TEXT NOT NULL, time_ns INTEGER NOT NULL, arguments TEXT NOT NULL);"
    "CREATE TABLE syscalls(id INTEGER PRIMARY KEY, thread_id INTEGER NOT NULL REFERENCES threads(id),"
    " name TEXT NOT NULL, begin_ns INTEGER NOT NULL, duration_ns INTEGER, result INTEGER, text TEXT NOT NULL);"
    "CREATE TABLE kernel_events(id INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, name TEXT NOT NULL,"
    " pid INTEGER NOT NULL, tid INTEGER NOT NULL, thread TEXT NOT NULL, cpu INTEGER NOT NULL, fields TEXT NOT NULL,"
    " stack TEXT, spec TEXT NOT NULL);"
    "CREATE VIEW named_calls AS SELECT calls.id, calls.parent_id, processes.pid, threads.tid,"
    " threads.name AS thread, functions.name AS function, modules.path AS module, calls.depth, calls.begin_ns,"
    " calls.duration_ns, calls.self_ns, calls.is_guessed, calls.is_cut, calls.is_unwound, calls.is_without_return"
    " FROM calls JOIN functions ON functions.id = calls.function_id JOIN threads ON threads.id = calls.thread_id"
    " JOIN processes ON processes.id = threads.process_id LEFT JOIN modules ON modules.id = functions.module_id;";

static const char indexes[] = "CREATE INDEX calls_by_function ON calls(function_id, duration_ns, self_ns);"
                              "CREATE INDEX calls_by_time ON calls(thread_id, begin_ns);"
                              "CREATE INDEX calls_by_parent ON calls(parent_id);"
                              "CREATE INDEX functions_by_name ON functions(name);"
                              "CREATE INDEX kernel_events_by_name ON kernel_events(name, time_ns);"
                              "ANALYZE;";

struct database {
    const struct export_job *job;
    sqlite3 *handle;
    sqlite3_stmt *add_call;
    sqlite3_stmt *add_loss;
    sqlite3_stmt *add_system_call;
    sqlite3_stmt *add_probe;
    sqlite3_stmt *add_kernel_event;
    int64_t *open; /* numbers of the calls of the thread that are open, by depth */
    size_t open_capacity;
    int64_t call_count;
    size_t function_count; /* of those that were called */
    uint64_t row_count;    /* in this transaction */
    int64_t *modules;      /* of each process: the number of its first module, in all of them */
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

/* ---- what there is besides calls --------------------------------------------------------------------------------- */

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

static void add_processes(struct database *database)
{
    const struct view_trace *trace = database->job->trace;
    sqlite3_stmt *statement = prepare(database, "INSERT INTO processes VALUES (?, ?, ?, nullif(?, 0), ?)");

    for (size_t i = 0; statement != NULL && i < trace->process_count; i++) {
        bind_number(statement, 1, i + 1);
        bind_number(statement, 2, trace->processes[i].pid);
        bind_number(statement, 3, trace->processes[i].image);
        bind_number(statement, 4, trace->processes[i].parent_pid);
        bind_text(statement, 5, trace->processes[i].command);
        (void)add_row(database, statement);
    }
    (void)sqlite3_finalize(statement);
}

static void add_threads(struct database *database)
{
    const struct view_trace *trace = database->job->trace;
    sqlite3_stmt *statement = prepare(database, "INSERT INTO threads VALUES (?, ?, ?, ?, ?)");

    for (size_t i = 0; statement != NULL && i < database->job->thread_count + database->job->silent_count; i++) {
        const struct view_thread *thread = &trace->threads[database->job->threads[i]];

        bind_number(statement, 1, database->job->threads[i] + 1);
        bind_number(statement, 2, thread->process + 1);
        bind_number(statement, 3, thread->tid);
        bind_number(statement, 4, thread->generation);
        bind_text(statement, 5, thread->name);
        (void)add_row(database, statement);
    }
    (void)sqlite3_finalize(statement);
}

static void add_module(struct database *database, sqlite3_stmt *statement, const struct module *module)
{
    const struct view_trace *trace = database->job->trace;
    char digits[2 * sizeof(module->build_id) + 1] = "";

    for (size_t i = 0; i < module->build_id_bytes && i < sizeof(module->build_id); i++)
        snprintf(digits + 2 * i, 3, "%02x", module->build_id[i]);
    bind_text(statement, 3, module->path);
    bind_text(statement, 4, digits);
    bind_number(statement, 5, module->start);
    bind_number(statement, 6, module->end);
    bind_number(statement, 7, module->file_offset);
    bind_number(statement, 8, view_trace_ns(trace, module->loaded));
    if (module->unloaded == UINT64_MAX)
        (void)sqlite3_bind_null(statement, 9);
    else
        bind_number(statement, 9, view_trace_ns(trace, module->unloaded));
    (void)add_row(database, statement);
}

static void add_modules(struct database *database)
{
    const struct view_trace *trace = database->job->trace;
    sqlite3_stmt *statement = prepare(database, "INSERT INTO modules VALUES (?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?)");
    int64_t number = 1;

    for (size_t i = 0; statement != NULL && i < trace->process_count; i++) {
        const struct modules *modules = &trace->processes[i].modules;

        database->modules[i] = number;
        for (size_t m = 0; m < modules->count; m++) {
            bind_number(statement, 1, (uint64_t)number++);
            bind_number(statement, 2, i + 1);
            add_module(database, statement, &modules->modules[m]);
        }
    }
    (void)sqlite3_finalize(statement);
}

static void bind_source(sqlite3_stmt *statement, const struct view_function *function)
{
    if (function->file == NULL)
        (void)sqlite3_bind_null(statement, 6);
    else
        bind_text(statement, 6, function->file);
    if (function->line == 0)
        (void)sqlite3_bind_null(statement, 7);
    else
        bind_number(statement, 7, function->line);
}

/* Behind the calls, which number them; places in stacks were numbered behind these. */
static void add_functions(struct database *database)
{
    const struct view_trace *trace = database->job->trace;
    sqlite3_stmt *statement = prepare(database, "INSERT INTO functions VALUES (?, ?, ?, ?, ?, ?, ?)");

    view_functions_prepare(database->job->functions);
    for (size_t i = 0; statement != NULL && i < database->function_count; i++) {
        const struct view_function *function = view_functions_at(database->job->functions, (uint32_t)i);

        bind_number(statement, 1, i + 1);
        bind_number(statement, 2, function->process + 1);
        if (function->module == NULL)
            (void)sqlite3_bind_null(statement, 3);
        else
            (void)sqlite3_bind_int64(statement, 3,
                                     database->modules[function->process] +
                                         (function->module - trace->processes[function->process].modules.modules));
        bind_number(statement, 4, function->address);
        bind_text(statement, 5, function->name);
        bind_source(statement, function);
        (void)add_row(database, statement);
    }
    (void)sqlite3_finalize(statement);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Numbers are in the order in which calls begin, so that an outer one is known to those in it. */
static int number_call(void *context, const struct export_call *call)
{
    struct database *database = context;

    if (call->depth >= database->open_capacity) {
        size_t capacity = database->open_capacity == 0 ? OPEN_AT_FIRST : 2 * database->open_capacity;
        int64_t *grown = realloc(database->open, capacity * sizeof(*grown));

        if (grown == NULL)
            return database->result = -ENOMEM;
        database->open = grown;
        database->open_capacity = capacity;
    }
    database->open[call->depth] = ++database->call_count;
    return 0;
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
    bind_number(statement, 3, call->thread + 1);
    bind_number(statement, 4, (uint64_t)call->function + 1);
    bind_number(statement, 5, call->depth);
    bind_number(statement, 6, call->begin_ns);
    bind_number(statement, 7, duration_ns);
    bind_number(statement, 8, duration_ns - call->inner_ns);
    bind_number(statement, 9, (call->flags & CALL_GUESSED) != 0);
    bind_number(statement, 10, (call->flags & CALL_CUT) != 0);
    bind_number(statement, 11, (call->flags & CALL_UNWOUND) != 0);
    bind_number(statement, 12, (call->flags & CALL_NO_RETURN) != 0);
    return add_row(database, statement) != 0;
}

static int add_loss(void *context, size_t thread, uint64_t time_ns, uint64_t lost_bytes)
{
    struct database *database = context;

    bind_number(database->add_loss, 1, thread + 1);
    bind_number(database->add_loss, 2, time_ns);
    bind_number(database->add_loss, 3, lost_bytes);
    return add_row(database, database->add_loss) != 0;
}

static int add_system_call(void *context, const struct export_system_call *call)
{
    struct database *database = context;
    sqlite3_stmt *statement = database->add_system_call;

    bind_number(statement, 1, call->thread + 1);
    bind_text(statement, 2, call->name);
    bind_number(statement, 3, call->begin_ns);
    (void)sqlite3_bind_null(statement, 4);
    (void)sqlite3_bind_null(statement, 5);
    if (call->has_returned) {
        bind_number(statement, 4, call->end_ns - call->begin_ns);
        (void)sqlite3_bind_int64(statement, 5, call->result);
    }
    bind_text(statement, 6, call->text);
    return add_row(database, statement) != 0;
}

static int add_probe(void *context, const struct export_probe *probe)
{
    struct database *database = context;

    bind_number(database->add_probe, 1, probe->thread + 1);
    bind_text(database->add_probe, 2, probe->name);
    bind_number(database->add_probe, 3, probe->time_ns);
    bind_text(database->add_probe, 4, probe->arguments);
    return add_row(database, database->add_probe) != 0;
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
    bind_text(statement, 5, told->thread);
    bind_number(statement, 6, told->event->cpu);
    bind_made(statement, 7, fields);
    bind_made(statement, 8, kernel_stack_write(database->job->functions, told->sources, told->event));
    bind_text(statement, 9, told->source->spec);
    return add_row(database, statement) != 0;
}

static int add_calls(struct database *database, struct gait_error *err)
{
    const struct export_receiver receiver = {number_call, add_call, add_loss, database};
    const struct export_system_call_receiver system_calls = {add_system_call, database};
    const struct export_probe_receiver probes = {add_probe, database};
    const struct export_kernel_receiver kernel = {add_kernel_event, database};
    int result = 0;

    database->add_call = prepare(database, "INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    database->add_loss = prepare(database, "INSERT INTO losses(thread_id, time_ns, lost_bytes) VALUES (?, ?, ?)");
    database->add_system_call =
        prepare(database, "INSERT INTO syscalls(thread_id, name, begin_ns, duration_ns, result, text)"
                          " VALUES (?, ?, ?, ?, ?, ?)");
    database->add_probe =
        prepare(database, "INSERT INTO probes(thread_id, name, time_ns, arguments) VALUES (?, ?, ?, ?)");
    database->add_kernel_event =
        prepare(database, "INSERT INTO kernel_events(time_ns, name, pid, tid, thread, cpu, fields, stack, spec)"
                          " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (database->result == 0)
        result = export_system_calls_behind(database->job, export_calls_read_all(database->job, &receiver, err),
                                            &system_calls, err);
    if (database->result == 0)
        result = export_probes_behind(database->job, result, &probes, err);
    database->function_count = database->job->functions->count;
    if (database->result == 0)
        result = export_kernel_behind(database->job, result, &kernel, err);
    (void)sqlite3_finalize(database->add_kernel_event);
    (void)sqlite3_finalize(database->add_probe);
    (void)sqlite3_finalize(database->add_system_call);
    (void)sqlite3_finalize(database->add_call);
    (void)sqlite3_finalize(database->add_loss);
    return result;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* The result is that of reading; what the database says is in database->result. */
static int fill(struct database *database, struct gait_error *err)
{
    int result;

    /* If it fails there is no file: nothing has to be kept safe meanwhile. */
    if (run(database, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536; BEGIN") != 0 ||
        run(database, schema) != 0)
        return 0;
    add_about(database);
    add_processes(database);
    add_threads(database);
    add_modules(database);
    result = add_calls(database, err);
    if (database->result == 0)
        add_functions(database);
    if (database->result == 0)
        (void)run(database, indexes);
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
    database.modules = calloc(job->trace->process_count + 1, sizeof(*database.modules));
    /* One of somebody who had our number. */
    unlink(path);
    view_functions_want_sources(job->functions);
    if (database.modules == NULL)
        result = error_set(err, ENOMEM, "cannot write '%s': there is no memory", job->path);
    else
        result = write_beside(&database, path, err);
    free(database.open);
    free(database.modules);
    free(path);
    return result;
}

extern const struct export_format export_format_sqlite;
const struct export_format export_format_sqlite = {
    .name = "sqlite",
    .file_name = "trace.sqlite",
    .kind = EXPORT_PATH,
    .write = write_sqlite,
};
