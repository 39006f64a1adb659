/* SPDX-License-Identifier: MIT */
/* Numbers of groups depend on which thread was quicker, so they decide nothing: keys do. */
#define _GNU_SOURCE
#include "report/report_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *report_kind_name(enum call_group_kind kind)
{
    static const char *const names[] = {"function", "module", "thread", "file", "line"};

    return names[kind];
}

const char *report_order_name(enum report_order order)
{
    static const char *const names[] = {"total", "self", "calls", "avg", "p99", "max", "name"};

    return names[order];
}

static const char *thread_name(const struct view_trace *trace, size_t thread, char text[REPORT_NAME_BYTES])
{
    const struct view_thread *shown = &trace->threads[thread];
    char process[TRACE_PROCESS_NAME_BYTES], generation[16] = "";

    trace_process_name(view_trace_process_of(trace, thread)->pid, view_trace_process_of(trace, thread)->image, process);
    if (shown->generation != 1)
        snprintf(generation, sizeof(generation), ".%" PRIu32, shown->generation);
    snprintf(text, REPORT_NAME_BYTES, "%s/%" PRIu32 "%s%s%s", process, shown->tid, generation,
             shown->name[0] == '\0' ? "" : " ", shown->name);
    return text;
}

const char *report_row_name(struct trace_report *report, uint32_t group, char text[REPORT_NAME_BYTES])
{
    const struct call_group *shown = &report->groups.groups[group];
    const struct view_function *function = call_groups_function(&report->groups, group);

    if (function == NULL)
        return thread_name(report->trace, group, text);
    switch (report->groups.kind) {
    case CALL_GROUP_MODULE:
        snprintf(text, REPORT_NAME_BYTES, "%s", function->module == NULL ? "no file" : function->module->path);
        break;
    case CALL_GROUP_FILE:
        snprintf(text, REPORT_NAME_BYTES, "%s", shown->file == NULL ? "not known" : shown->file);
        break;
    case CALL_GROUP_LINE:
        if (shown->file == NULL)
            snprintf(text, REPORT_NAME_BYTES, "not known");
        else
            snprintf(text, REPORT_NAME_BYTES, "%s:%" PRIu32, shown->file, shown->line);
        break;
    default:
        snprintf(text, REPORT_NAME_BYTES, "%s", function->name);
        break;
    }
    return text;
}

double report_row_value(const struct call_statistics *statistics, enum report_order order)
{
    switch (order) {
    case REPORT_BY_TOTAL:
        return (double)statistics->total;
    case REPORT_BY_SELF:
        return (double)statistics->self;
    case REPORT_BY_CALLS:
        return (double)statistics->calls;
    case REPORT_BY_AVERAGE:
        return call_statistics_average(statistics);
    case REPORT_BY_P99:
        return (double)call_statistics_percentile(statistics, 99);
    case REPORT_BY_LONGEST:
        return (double)statistics->longest;
    default:
        return 0;
    }
}

static int compare_keys(const struct call_groups *groups, uint32_t left, uint32_t right)
{
    if (groups->kind == CALL_GROUP_THREAD)
        return left < right ? -1 : left > right;
    return strcmp(text_numbers_at(&groups->keys, left), text_numbers_at(&groups->keys, right));
}

static int compare(const void *left_row, const void *right_row, void *context)
{
    const struct report_row *left = left_row, *right = right_row;
    int order = left->name != NULL && right->name != NULL ? strcmp(left->name, right->name) : 0;

    if (order != 0)
        return order;
    if (left->value != right->value)
        return left->value > right->value ? -1 : 1;
    if (left->statistics->calls != right->statistics->calls)
        return left->statistics->calls > right->statistics->calls ? -1 : 1;
    return compare_keys(context, left->group, right->group);
}

int report_rows_rank(struct report_rows *rows, struct trace_report *report, enum report_order order)
{
    char name[REPORT_NAME_BYTES];

    rows->count = 0;
    rows->rows = calloc(report->groups.count + 1, sizeof(*rows->rows));
    if (rows->rows == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < report->groups.count; i++) {
        const struct call_statistics *statistics = &report->statistics.all[i];
        struct report_row *row = &rows->rows[rows->count];

        if (statistics->calls == 0)
            continue;
        *row = (struct report_row){(uint32_t)i, statistics, report_row_value(statistics, order), NULL};
        rows->count++;
        if (order != REPORT_BY_NAME)
            continue;
        row->name = strdup(report_row_name(report, (uint32_t)i, name));
        if (row->name == NULL) {
            report_rows_free(rows);
            return -ENOMEM;
        }
    }
    qsort_r(rows->rows, rows->count, sizeof(rows->rows[0]), compare, &report->groups);
    return 0;
}

void report_rows_free(struct report_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free(rows->rows[i].name);
    free(rows->rows);
}
