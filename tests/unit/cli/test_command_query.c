/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "support/check.h"
#include "support/command_run.h"
#include "support/query_text.h"

extern const struct command command_query;

static struct trace_folder folder;

static void check(const char *option, const char *sql, const char *expected)
{
    struct command_run run = COMMAND_RUN(&command_query, 100, folder.path, option, sql);

    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, expected);
    command_run_deinit(&run);
}

static void check_error(enum command_status status, const char *first, const char *second, const char *text)
{
    struct command_run run = COMMAND_RUN(&command_query, 100, first, second);

    CHECK_EQUAL(run.status, status);
    if (strstr(run.err.text, text) == NULL)
        CHECK_TEXT(run.err.text, text);
    command_run_deinit(&run);
}

static void begin(void)
{
    trace_folder_init(&folder);
    query_text_put_hooked(&folder);
}

static void end(void)
{
    trace_folder_deinit(&folder);
}

static void rows_have_the_form_that_is_asked_for(void)
{
    begin();
    check("--", "select thread, tid from threads", "thread  tid\nmain    200\nhelper  201\n");
    check("--csv", "select thread, tid from threads", "thread,tid\nmain,200\nhelper,201\n");
    check("--json", "select tid from threads limit 1", "[\n{\"tid\": 200}\n]\n");
    check("--box", "select tid from threads limit 1", "┌─────┐\n│ tid │\n├─────┤\n│ 200 │\n└─────┘\n");
    end();
}

static void what_is_wrong_is_said(void)
{
    begin();
    check_error(COMMAND_FAILED, folder.path, "select tdi from threads", "no such column: tdi; did you mean tid");
    check_error(COMMAND_FAILED, folder.path, "drop table calls", "a trace can be read, not changed");
    check_error(COMMAND_FAILED, folder.path, "select \x1b", "unrecognized token: \"?\"");
    check_error(COMMAND_FAILED, "/nowhere", "select 1", "/nowhere");
    check_error(COMMAND_MISUSED, folder.path, NULL, "SQL is missing");
    check_error(COMMAND_MISUSED, "--cvs", "select 1", "--csv");
    check_error(COMMAND_MISUSED, "--csv", "--json", "together");
    trace_folder_write(&folder, "manifest.json", "{", 1);
    check_error(COMMAND_FAILED, folder.path, "select 1", "manifest.json");
    end();
}

static void tables_are_described_without_a_trace(void)
{
    struct command_run run = COMMAND_RUN(&command_query, 100, "--schema");

    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK(strstr(run.output, "calls: calls of functions") == run.output);
    CHECK(strstr(run.output, "\nlosses: ") != NULL && strstr(run.output, "  duration_ns  INTEGER  how long") != NULL);
    command_run_deinit(&run);
}

static const struct check_case cases[] = {
    CHECK_CASE(rows_have_the_form_that_is_asked_for),
    CHECK_CASE(what_is_wrong_is_said),
    CHECK_CASE(tables_are_described_without_a_trace),
};

CHECK_MAIN(cases)
