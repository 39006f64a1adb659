/* SPDX-License-Identifier: MIT */
/* Columns are narrow, so that a row with a usual name fits into 120 columns. */
#include "cli/screens/report_table.h"

#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_BYTES       1024
#define NAME_COLUMNS_MIN 8
#define NAME_COLUMNS_MAX 40
#define NARROW_BELOW     112u
#define NARROW_NUMBERS   53u /* columns before the name, with the space around it */
#define NARROW_MODULE    14u

/* ---- a row ------------------------------------------------------------------------------------------------------- */

static void put_time(const struct report_table *table, const struct call_statistics *statistics, double ticks)
{
    double tick_ns = view_clock_tick_ns(&table->report->trace->clock);
    char text[FIGURE_BYTES], shown[FIGURE_BYTES + 1];

    if (!call_statistics_have_times(statistics)) {
        screen_print(table->screen, " %9s", "-");
        return;
    }
    if (statistics->guessed == 0)
        duration_write(ticks * tick_ns, text);
    else
        duration_write_rough(ticks * tick_ns, text);
    snprintf(shown, sizeof(shown), "%s%s",
             statistics->guessed == 0 || table->report->guesses == GUESSED_TIMES_ALL ? "" : "~", text);
    screen_print(table->screen, " %9s", shown);
}

/* On such a terminal only the most important columns have room. */
static bool is_narrow(const struct report_table *table)
{
    return table->screen->is_terminal && table->screen->width < NARROW_BELOW;
}

static void put_numbers(const struct report_table *table, const struct call_statistics *statistics)
{
    const struct trace_report *report = table->report;
    double self = (double)statistics->self, all_self = (double)report->all.self;
    char share[FIGURE_BYTES];

    if (!report->has_times) {
        screen_print(table->screen, "%12" PRIu64 " %8s", statistics->calls,
                     share_write((double)statistics->calls, (double)report->all.calls, share));
        return;
    }
    put_time(table, statistics, (double)statistics->total);
    put_time(table, statistics, self);
    screen_print(table->screen, " %7s %10" PRIu64,
                 !call_statistics_have_times(statistics) ? "-"
                 : statistics->guessed == 0              ? share_write(self, all_self, share)
                                                         : share_write_rough(self, all_self, share),
                 statistics->calls);
    if (is_narrow(table)) {
        put_time(table, statistics, call_statistics_average(statistics));
        return;
    }
    put_time(table, statistics, (double)statistics->shortest);
    put_time(table, statistics, call_statistics_average(statistics));
    put_time(table, statistics, (double)call_statistics_percentile(statistics, 50));
    put_time(table, statistics, (double)call_statistics_percentile(statistics, 99));
    put_time(table, statistics, (double)statistics->longest);
}

/* Of a function: its file, and why that does not tell names. */
static void put_module(const struct report_table *table, uint32_t group)
{
    const struct view_function *function = call_groups_function(&table->report->groups, group);
    char clean[TEXT_BYTES];

    screen_print(table->screen, "  %s",
                 function->module == NULL
                     ? "no file"
                     : printable(clean, sizeof(clean), call_groups_base_name(function->module->path)));
    if (function->problem != NULL)
        screen_print(table->screen, " (%s)", function->problem);
}

static void put_row(const struct report_table *table, const struct report_row *row, int name_columns)
{
    char name[REPORT_NAME_BYTES], clean[REPORT_NAME_BYTES];

    put_numbers(table, row->statistics);
    if (is_narrow(table) && table->report->groups.kind == CALL_GROUP_FUNCTION) {
        printable(clean, sizeof(clean), report_row_name(table->report, row->group, name));
        screen_print(table->screen, "  ");
        screen_put(table->screen, SCREEN_PLAIN, (unsigned)name_columns, clean);
        put_module(table, row->group);
        screen_print(table->screen, "\n");
        return;
    }
    printable(clean, sizeof(clean), report_row_name(table->report, row->group, name));
    if (table->report->groups.kind == CALL_GROUP_FUNCTION) {
        screen_print(table->screen, "  %-*s", name_columns, clean);
        put_module(table, row->group);
    } else {
        screen_print(table->screen, "  %s", clean);
    }
    screen_print(table->screen, "\n");
}

/* ---- a table ----------------------------------------------------------------------------------------------------- */

static void put_title(const struct report_table *table, enum report_order order, size_t count)
{
    static const char *const orders[] = {"total time, with all that is called",
                                         "self time, without what is called",
                                         "calls",
                                         "average time of a call",
                                         "time that 99 % of calls stay below",
                                         "longest call",
                                         "name"};
    char text[TEXT_BYTES];

    snprintf(text, sizeof(text), "\n%zu %s%s by %s%s\n", count, report_kind_name(table->report->groups.kind),
             count == 1 ? "" : "s", orders[order],
             !table->report->has_guesses || order == REPORT_BY_CALLS || order == REPORT_BY_NAME ? "" : " (guessed)");
    screen_put(table->screen, SCREEN_STRONG, 0, text);
}

static void put_heading(const struct report_table *table, int name_columns)
{
    const char *kind = report_kind_name(table->report->groups.kind);
    char text[TEXT_BYTES];
    int used;

    if (table->report->has_times && is_narrow(table))
        used = snprintf(text, sizeof(text), " %9s %9s %7s %10s %9s", "total", "self", "self %", "calls", "avg");
    else if (table->report->has_times)
        used = snprintf(text, sizeof(text), " %9s %9s %7s %10s %9s %9s %9s %9s %9s", "total", "self", "self %", "calls",
                        "min", "avg", "p50", "p99", "max");
    else
        used = snprintf(text, sizeof(text), "%12s %8s", "calls", "share");
    if (table->report->groups.kind == CALL_GROUP_FUNCTION)
        snprintf(text + used, sizeof(text) - (size_t)used, "  %-*s  module\n", name_columns, kind);
    else
        snprintf(text + used, sizeof(text) - (size_t)used, "  %s\n", kind);
    screen_put(table->screen, SCREEN_FAINT, 0, text);
}

/* As many as the longest name needs, but names of monsters only push the module away. */
static int count_columns(const struct report_table *table, const struct report_rows *rows, size_t shown)
{
    char name[REPORT_NAME_BYTES];
    size_t columns = NAME_COLUMNS_MIN, most = NAME_COLUMNS_MAX;

    if (is_narrow(table))
        most = table->screen->width < NARROW_NUMBERS + NARROW_MODULE + NAME_COLUMNS_MIN
                   ? NAME_COLUMNS_MIN
                   : table->screen->width - NARROW_NUMBERS - NARROW_MODULE;
    for (size_t i = 0; is_narrow(table) && i < shown; i++)
        if (strlen(report_row_name(table->report, rows->rows[i].group, name)) > most)
            return (int)most;

    for (size_t i = 0; i < shown; i++) {
        size_t length = strlen(report_row_name(table->report, rows->rows[i].group, name));

        if (length > columns && length <= most)
            columns = length;
    }
    return (int)columns;
}

static int show_by(const struct report_table *table, enum report_order order)
{
    struct report_rows rows;
    int result = report_rows_rank(&rows, table->report, order);
    size_t shown = result != 0 || rows.count < table->limit ? rows.count : table->limit;
    int columns;

    if (result != 0)
        return result;
    if (rows.count != 0) {
        columns = count_columns(table, &rows, shown);
        put_title(table, order, rows.count);
        put_heading(table, columns);
        for (size_t i = 0; i < shown; i++)
            put_row(table, &rows.rows[i], columns);
        if (shown < rows.count)
            screen_print(table->screen, "and %zu more; --limit shows them\n", rows.count - shown);
    }
    report_rows_free(&rows);
    return 0;
}

static void put_entry_only_note(const struct report_table *table, bool has_others)
{
    uint64_t count = table->report->all.entry_only;

    if (count != 0)
        screen_print(table->screen,
                     "%sOf %" PRIu64 " call%s only the entry could be seen: how long %s took is not known, and in no "
                     "time above.\n",
                     has_others ? "" : "\n", count, count == 1 ? "" : "s", count == 1 ? "it" : "they");
}

/* What has to be known of the times above. */
static void put_notes(const struct report_table *table)
{
    const struct call_statistics *all = &table->report->all;

    if (!table->report->has_times || all->calls == 0)
        return;
    if (all->cut != 0)
        screen_print(table->screen,
                     "\nThe end of %" PRIu64 " call%s was not seen, for the recording ended or events are missing: "
                     "%s lasted longer.\n",
                     all->cut, all->cut == 1 ? "" : "s", all->cut == 1 ? "it" : "they");
    if (all->no_return != 0)
        screen_print(table->screen,
                     "%sThe return of %" PRIu64 " call%s was not seen: %s ended when the next was, or before.\n",
                     all->cut != 0 ? "" : "\n", all->no_return, all->no_return == 1 ? "" : "s",
                     all->no_return == 1 ? "it" : "they");
    put_entry_only_note(table, all->cut != 0 || all->no_return != 0);
}

int report_table_show(const struct report_table *table)
{
    int result;

    if (table->has_order)
        result = show_by(table, table->order);
    else if (!table->report->has_times)
        result = show_by(table, REPORT_BY_CALLS);
    else
        result = show_by(table, REPORT_BY_TOTAL);
    if (result == 0 && !table->has_order && table->report->has_times &&
        table->report->groups.kind == CALL_GROUP_FUNCTION)
        result = show_by(table, REPORT_BY_SELF);
    if (result == 0)
        put_notes(table);
    return result;
}
