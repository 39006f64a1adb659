/* SPDX-License-Identifier: MIT */
#include "export/export_format.h"

#include "support/check.h"
#include "support/export_lab.h"

#include <errno.h>
#include <sqlite3.h>
#include <unistd.h>

static struct export_lab lab;
static struct trace_folder target;
static char path[128];

static void begin(void)
{
    export_lab_init(&lab);
    trace_folder_init(&target);
    snprintf(path, sizeof(path), "%s/trace.sqlite", target.path);
    lab.job.path = path;
}

static void end(void)
{
    trace_folder_deinit(&target);
    export_lab_deinit(&lab);
}

/* What the first row of the answer says, with bars between its values. */
static const char *ask(const char *question)
{
    static char answer[256];
    sqlite3_stmt *statement;
    sqlite3 *handle;

    answer[0] = '\0';
    CHECK_EQUAL(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(handle, question, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            const char *text = (const char *)sqlite3_column_text(statement, i);

            snprintf(answer + strlen(answer), sizeof(answer) - strlen(answer), "%s%s", i == 0 ? "" : "|",
                     text == NULL ? "-" : text);
        }
    else
        snprintf(answer, sizeof(answer), "%s", sqlite3_errmsg(handle));
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    return answer;
}

static void everything_has_its_rows(void)
{
    begin();
    CHECK_EQUAL(export_lab_write(&lab, "sqlite"), 0);
    CHECK_TEXT(ask("SELECT count(*), sum(duration_ns), sum(self_ns) FROM calls"), "16|2000|1600");
    CHECK_TEXT(ask("SELECT pid, image, parent_pid, command FROM processes"), "100|1|-|./example --fast");
    CHECK_TEXT(ask("SELECT group_concat(tid), group_concat(coalesce(thread, '')) FROM threads"),
               "100,101,102|example,worker,");
    CHECK_TEXT(ask("SELECT count(*), min(path) FROM modules"), "2|/nowhere/example");
    CHECK_TEXT(ask("SELECT count(*), sum(bytes), min(tid) FROM losses"), "4|288|101");
    CHECK_TEXT(ask("SELECT count(*) FROM functions"), "3");
    CHECK_TEXT(ask("SELECT value FROM about WHERE key = 'program'"), "./example");
    CHECK_TEXT(ask("PRAGMA foreign_key_check"), "no more rows available");
    end();
}

static void callers_are_known(void)
{
    begin();
    CHECK_EQUAL(export_lab_write(&lab, "sqlite"), 0);
    CHECK_TEXT(ask("SELECT caller, depth, start_ns, self_ns FROM calls WHERE start_ns = 1100 AND depth = 1"),
               "example+0x1000|1|1100|100");
    CHECK_TEXT(ask("SELECT f.function FROM call_rows AS inner_call JOIN call_rows AS outer_call ON outer_call.id = "
                   "inner_call.parent_id JOIN function_rows AS f ON f.id = outer_call.function WHERE "
                   "inner_call.start_ns = 1100 AND inner_call.depth = 1"),
               "example+0x1000");
    CHECK_TEXT(
        ask("SELECT count(*) FILTER (WHERE flags = 'cut'), count(*) FILTER (WHERE flags = 'unwound'), count(*) "
            "FILTER (WHERE flags LIKE '%guessed%'), count(*) FILTER (WHERE flags LIKE '%no return%') FROM calls"),
        "2|1|0|0");
    end();
}

static void nasty_names_are_text(void)
{
    begin();
    CHECK_EQUAL(export_lab_write(&lab, "sqlite"), 0);
    CHECK_TEXT(ask("SELECT function FROM functions WHERE function LIKE '<i>%'"),
               "<i>&\"\\;\xef\xbf\xbd\xef\xbf\xbd<i>+0x1100");
    end();
}

static void questions_find_their_index(void)
{
    begin();
    CHECK_EQUAL(export_lab_write(&lab, "sqlite"), 0);
    CHECK(strstr(ask("EXPLAIN QUERY PLAN SELECT max(duration_ns) FROM call_rows WHERE function = 2"),
                 "calls_by_function") != NULL);
    CHECK(strstr(ask("EXPLAIN QUERY PLAN SELECT * FROM calls WHERE thread_id = 1 AND start_ns > 7"), "calls_by_time") !=
          NULL);
    CHECK(strstr(ask("EXPLAIN QUERY PLAN SELECT * FROM call_rows WHERE parent_id = 7"), "calls_by_parent") != NULL);
    end();
}

/* The new one takes the place of what was there, whatever that was. */
static void another_file_is_replaced(void)
{
    begin();
    trace_folder_write(&target, "trace.sqlite", "a letter", 8);
    CHECK_EQUAL(export_lab_write(&lab, "sqlite"), 0);
    CHECK_TEXT(ask("SELECT count(*) FROM calls"), "16");
    end();
}

static void nothing_is_left_of_a_failure(void)
{
    begin();
    snprintf(path, sizeof(path), "%s/nowhere/trace.sqlite", target.path);
    CHECK(export_lab_write(&lab, "sqlite") < 0);
    CHECK(strstr(lab.err.text, "nowhere/trace.sqlite': unable to open database file") != NULL);
    end();
}

static void what_can_be_read_is_written(void)
{
    begin();
    trace_folder_write(&lab.folder, "100/100.1.index.gait", "?", 1);
    CHECK(export_lab_write(&lab, "sqlite") < 0);
    CHECK(strstr(lab.err.text, "100.1.index.gait") != NULL);
    CHECK_TEXT(ask("SELECT count(*) FROM calls"), "11");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(everything_has_its_rows),     CHECK_CASE(callers_are_known),
    CHECK_CASE(nasty_names_are_text),        CHECK_CASE(questions_find_their_index),
    CHECK_CASE(another_file_is_replaced),    CHECK_CASE(nothing_is_left_of_a_failure),
    CHECK_CASE(what_can_be_read_is_written),
};

CHECK_MAIN(cases)
