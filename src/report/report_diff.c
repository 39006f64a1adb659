/* SPDX-License-Identifier: MIT */
/* Addresses say nothing from one run to the next, and folders may be others: names are what is compared. */
#define _GNU_SOURCE
#include "report/report_diff.h"

#include "hosted/growing_array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES (2 * REPORT_NAME_BYTES)

double report_diff_value(const struct trace_report *report, const struct call_statistics *statistics,
                         enum report_order order)
{
    double value = report_row_value(statistics, order);

    return order == REPORT_BY_CALLS ? value : value * view_clock_tick_ns(&report->trace->clock);
}

/* The name that a group is compared by. */
static const char *find_name(struct trace_report *report, uint32_t group, char text[REPORT_NAME_BYTES])
{
    if (report->groups.kind == CALL_GROUP_THREAD)
        return report->trace->threads[group].name;
    report_row_name(report, group, text);
    return report->groups.kind == CALL_GROUP_MODULE ? call_groups_base_name(text) : text;
}

static const char *find_module(struct trace_report *report, uint32_t group)
{
    const struct view_function *function = call_groups_function(&report->groups, group);

    return report->groups.kind != CALL_GROUP_FUNCTION || function->module == NULL
               ? ""
               : call_groups_base_name(function->module->path);
}

static int add_change(struct report_diff *diff, const char *module, const char *name)
{
    struct report_change change = {.name = strdup(name), .module = strdup(module)};

    if (change.name == NULL || change.module == NULL ||
        ARRAY_RESERVE(diff->changes, diff->capacity, diff->count + 1) != 0) {
        free(change.name);
        free(change.module);
        return -ENOMEM;
    }
    diff->changes[diff->count++] = change;
    return 0;
}

static int add_group(struct report_diff *diff, struct trace_report *report, uint32_t group)
{
    char text[REPORT_NAME_BYTES], key[KEY_BYTES];
    const char *name = find_name(report, group, text), *module = find_module(report, group);
    struct report_change *change;
    size_t at;
    int result;

    /* The lengths keep "a", "b" apart from "ab", "". */
    snprintf(key, sizeof(key), "%zu %s%s", strlen(module), module, name);
    result = text_numbers_obtain(&diff->names, key, &at);
    if (result == 0 && at == diff->count)
        result = add_change(diff, module, name);
    if (result != 0)
        return result;
    change = &diff->changes[at];
    return call_statistics_merge(report == diff->before ? &change->before : &change->after,
                                 &report->statistics.all[group]);
}

static int add_report(struct report_diff *diff, struct trace_report *report)
{
    int result = 0;

    for (size_t i = 0; i < report->groups.count && result == 0; i++)
        if (report->statistics.all[i].calls != 0)
            result = add_group(diff, report, (uint32_t)i);
    return result;
}

static double size_of(double difference)
{
    return difference < 0 ? -difference : difference;
}

static int compare(const void *left_change, const void *right_change)
{
    const struct report_change *left = left_change, *right = right_change;
    double left_size = size_of(left->difference), right_size = size_of(right->difference);
    int names;

    if (left_size != right_size)
        return left_size > right_size ? -1 : 1;
    names = strcmp(left->name, right->name);
    return names != 0 ? names : strcmp(left->module, right->module);
}

int report_diff_init(struct report_diff *diff, struct trace_report *before, struct trace_report *after,
                     enum report_order order)
{
    int result;

    *diff = (struct report_diff){.before = before, .after = after, .order = order};
    result = text_numbers_init(&diff->names);
    if (result != 0)
        return result;
    result = add_report(diff, before);
    if (result == 0)
        result = add_report(diff, after);
    if (result != 0) {
        report_diff_deinit(diff);
        return result;
    }
    for (size_t i = 0; i < diff->count && order != REPORT_BY_NAME; i++) {
        struct report_change *change = &diff->changes[i];

        change->difference =
            report_diff_value(after, &change->after, order) - report_diff_value(before, &change->before, order);
    }
    if (diff->count != 0)
        qsort(diff->changes, diff->count, sizeof(diff->changes[0]), compare);
    return 0;
}

void report_diff_deinit(struct report_diff *diff)
{
    for (size_t i = 0; i < diff->count; i++) {
        free(diff->changes[i].name);
        free(diff->changes[i].module);
        call_statistics_deinit(&diff->changes[i].before);
        call_statistics_deinit(&diff->changes[i].after);
    }
    free(diff->changes);
    text_numbers_deinit(&diff->names);
}
