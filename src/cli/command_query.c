/* SPDX-License-Identifier: MIT */
/* gait query: SQL over a trace, and what there is to ask for. */
#include "cli/command.h"

#include "cli/hints.h"
#include "cli/last_trace.h"
#include "cli/options/arguments.h"
#include "cli/reading_status.h"
#include "cli/screens/guess_notice.h"
#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/error_text.h"
#include "query/query.h"
#include "query/row_formats.h"
#include "trace/stream_reader.h"
#include "view/view_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SQL_BYTES_MAX (1u << 20)

struct query_options {
    int box;
    int csv;
    int json;
    int schema;
};

/* ---- what there is ----------------------------------------------------------------------------------------------- */

static void put_table(struct screen *screen, const struct query_table_text *table)
{
    size_t widest = 0;

    screen_put(screen, SCREEN_STRONG, 0, table->name);
    screen_print(screen, ": %s\n", table->meaning);
    for (size_t i = 0; i < table->column_count; i++)
        if (strlen(table->columns[i].name) > widest)
            widest = strlen(table->columns[i].name);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct query_column *column = &table->columns[i];

        screen_print(screen, "  %-*s  %-7s  %s\n", (int)widest, column->name, column->type, column->meaning);
    }
}

static enum command_status put_schema(const struct command_call *call)
{
    struct query_table_text table;

    if (!query_tables_describe(0, &table)) {
        error_set(call->error, EOPNOTSUPP, "cannot show tables: this gait was built without SQLite; try one with it");
        return COMMAND_FAILED;
    }
    for (size_t i = 0; query_tables_describe(i, &table); i++) {
        screen_print(call->screen, i == 0 ? "" : "\n");
        put_table(call->screen, &table);
    }
    return COMMAND_DONE;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* All of the standard input, to be freed. NULL: call->error says why. */
static char *read_input(const struct command_call *call)
{
    char *text = malloc(SQL_BYTES_MAX + 1);
    size_t used = text == NULL ? 0 : fread(text, 1, SQL_BYTES_MAX + 1, stdin);

    if (text == NULL || ferror(stdin))
        error_set(call->error, EIO, "cannot read the query from the standard input; try it as an argument");
    else if (used > SQL_BYTES_MAX)
        error_set(call->error, E2BIG, "cannot use the query: it has more than %u bytes; try a shorter one",
                  SQL_BYTES_MAX);
    else if (memchr(text, '\0', used) != NULL)
        error_set(call->error, EINVAL, "cannot use the query: there are zero bytes in it; try text");
    else {
        text[used] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

static int run_query(const struct command_call *call, const struct query_options *options,
                     const struct view_trace *trace, const char *sql)
{
    FILE *stream = call->screen->stream;
    bool is_terminal = isatty(fileno(stream));
    struct row_table table;
    struct row_json json;
    struct query_receiver receiver;
    int result;

    row_json_init(&json, stream);
    row_table_init(&table, stream, options->box || is_terminal, is_terminal ? call->screen->width : 0);
    receiver = options->csv    ? row_csv_receiver(stream)
               : options->json ? row_json_receiver(&json)
                               : row_table_receiver(&table);
    result = query_run(trace, sql, &receiver, call->error);
    row_table_deinit(&table);
    row_json_deinit(&json);
    return result;
}

/* SQL compares what it is told to: whoever writes it has to know. */
static void note_guesses(const struct view_trace *trace)
{
    if (guessed_times_of_trace(trace) != GUESSED_TIMES_NONE)
        fputs("gait query: " GUESS_NOTICE_SENTENCE ". Conditions on them compare guesses: WHERE flags LIKE "
              "'%guessed%' OR duration_ns > ... keeps what may be longer\n",
              stderr);
}

static enum command_status query_trace(const struct command_call *call, const struct query_options *options,
                                       const char *path, const char *sql)
{
    struct view_trace trace;
    char clean[sizeof(call->error->text)];
    int result = view_trace_open(&trace, path, call->error);

    if (result != 0)
        return COMMAND_FAILED;
    if (strstr(sql, "_ns") != NULL)
        note_guesses(&trace);
    result = run_query(call, options, &trace, sql);
    view_trace_close(&trace);
    if (result >= 0 || stream_error_is_cut_off(call->error))
        return reading_status(call, 0);
    if (result == -ENOMEM && call->error->code == 0)
        error_set(call->error, ENOMEM, "cannot show the rows: there is no memory; try to free some");
    query_hint_add(call->error, sql);
    memcpy(clean, call->error->text, sizeof(clean));
    printable(call->error->text, sizeof(call->error->text), clean);
    return COMMAND_FAILED;
}

static enum command_status run(const struct command_call *call)
{
    struct query_options options = {.box = 0};
    const struct argument_option known[] = {{"box", NULL, &options.box},
                                            {"csv", NULL, &options.csv},
                                            {"json", NULL, &options.json},
                                            {"schema", NULL, &options.schema}};
    const struct argument_rules rules = {"query", known, 4, NULL, 0};
    const char *words[2];
    size_t count;
    char *input = NULL;
    enum command_status status = arguments_parse_more(call, &rules, words, 2, &count);

    if (status != COMMAND_DONE)
        return status;
    if (options.box + options.csv + options.json > 1) {
        error_set(call->error, EINVAL, "cannot use --box, --csv and --json together: rows have one form; try one");
        return COMMAND_MISUSED;
    }
    if (options.schema)
        return put_schema(call);
    if (count == 1 && !last_trace_is_named_by(words[0])) {
        words[1] = words[0];
        words[0] = last_trace_take("query", call->error);
        if (words[0] == NULL)
            return COMMAND_MISUSED;
        count = 2;
    }
    if (count < 2) {
        error_set(call->error, EINVAL,
                  "cannot run 'gait query': %s missing; try gait query %s 'SELECT function, calls FROM functions', "
                  "- for a query from the standard input, or 'gait query --schema' for the tables",
                  count == 0 ? "TRACE and SQL are" : "SQL is", count == 0 ? "TRACE" : words[0]);
        return COMMAND_MISUSED;
    }
    if (strcmp(words[1], "-") == 0 && (input = read_input(call)) == NULL)
        return COMMAND_FAILED;
    status = query_trace(call, &options, words[0], input != NULL ? input : words[1]);
    free(input);
    return status;
}

extern const struct command command_query;
const struct command command_query = {
    .name = "query",
    .arguments = "[TRACE] SQL [--box | --csv | --json]",
    .summary = "SQL over the calls, events and threads of a trace",
    .details = "Runs a query of SQLite straight over a trace: nothing is imported, and nothing can\n"
               "be changed. The tables are calls, functions, events, threads, processes, modules,\n"
               "details, stacks, probes, syscalls, kernel_events, triggers and losses; a database\n"
               "that 'gait export -f sqlite' writes has the same ones.\n"
               "\n"
               "Conditions on function, module, pid, tid, thread, depth, start_ns and duration_ns\n"
               "are met while the trace is read; functions has sums over all calls, which take one\n"
               "pass. SQL may be several statements; - reads it from the standard input. When\n"
               "something of the trace cannot be read, the rest is shown, and it is said at the end.\n"
               "\n"
               "  --box     lines around cells, as on a terminal; there, wide cells are cut to fit\n"
               "  --csv     comma-separated values: NULL is nothing, an empty text is \"\"\n"
               "  --json    an array of objects for each statement\n"
               "  --schema  shows the tables and what their columns mean; needs no TRACE\n"
               "\n"
               "Without any, columns are aligned by spaces, for reading.\n"
               "\n"
               "Without TRACE it is the last one in ./traces, which is said on standard error.\n"
               "\n"
               "Examples:\n"
               "  gait query TRACE 'SELECT * FROM functions ORDER BY self_ns DESC LIMIT 10'\n"
               "  gait query TRACE \"SELECT * FROM calls WHERE function = 'malloc' LIMIT 10\"\n"
               "  gait query TRACE --csv 'SELECT tid, sum(self_ns) FROM calls GROUP BY tid'\n"
               "  gait query TRACE - < report.sql\n",
    .run = run,
};
