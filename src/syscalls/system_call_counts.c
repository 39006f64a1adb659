/* SPDX-License-Identifier: MIT */
#include "syscalls/system_call_counts.h"

#include "hosted/json_writer.h"

#include <stdlib.h>

#define ERRORS     4095
#define NS_PER_S   1e9
#define NAME_BYTES 32

void system_call_counts_add(struct system_call_counts *counts, const struct system_call_event *event)
{
    size_t place = event->number < SYSTEM_CALL_NUMBERS ? (size_t)event->number : SYSTEM_CALL_NUMBERS;
    struct system_call_count *count = &counts->by_number[place];

    if (event->kind != SYSTEM_CALL_LEFT || (event->flags & SYSTEM_CALL_NEVER_RETURNS) != 0)
        return;
    count->calls++;
    count->errors += event->result < 0 && event->result >= -ERRORS;
    count->total_ns += event->system_ns;
}

/* qsort has no context: numbers are sorted together with what they are sorted by. */
struct count_row {
    struct system_call_count count;
    size_t number;
};

static int compare(const void *left, const void *right)
{
    const struct count_row *a = left, *b = right;

    if (a->count.total_ns != b->count.total_ns)
        return a->count.total_ns < b->count.total_ns ? 1 : -1;
    if (a->count.calls != b->count.calls)
        return a->count.calls < b->count.calls ? 1 : -1;
    return a->number < b->number ? -1 : 1;
}

static size_t collect(const struct system_call_counts *counts, struct count_row *rows, struct count_row *total)
{
    size_t row_count = 0;

    *total = (struct count_row){0};
    for (size_t i = 0; i <= SYSTEM_CALL_NUMBERS; i++) {
        if (counts->by_number[i].calls == 0)
            continue;
        rows[row_count++] = (struct count_row){counts->by_number[i], i};
        total->count.calls += counts->by_number[i].calls;
        total->count.errors += counts->by_number[i].errors;
        total->count.total_ns += counts->by_number[i].total_ns;
    }
    qsort(rows, row_count, sizeof(rows[0]), compare);
    return row_count;
}

static const char *name_row(const struct count_row *row, char text[NAME_BYTES])
{
    const struct system_call_signature *call = system_call_by_number(row->number);

    if (call != NULL)
        return call->name;
    if (row->number >= SYSTEM_CALL_NUMBERS)
        return "others";
    snprintf(text, NAME_BYTES, "syscall_0x%zx", row->number);
    return text;
}

static void put_row(FILE *stream, const struct count_row *row, const struct count_row *total)
{
    double share = total->count.total_ns == 0 ? 0 : 100.0 * (double)row->count.total_ns / (double)total->count.total_ns;
    uint64_t each = row->count.calls == 0 ? 0 : row->count.total_ns / row->count.calls / 1000;

    fprintf(stream, "%6.2f %11.6f %11lu %9lu ", share, (double)row->count.total_ns / NS_PER_S, (unsigned long)each,
            (unsigned long)row->count.calls);
    if (row->count.errors != 0)
        fprintf(stream, "%9lu ", (unsigned long)row->count.errors);
    else
        fprintf(stream, "%9s ", "");
}

void system_call_counts_put(const struct system_call_counts *counts, FILE *stream)
{
    static const char rule[] = "------ ----------- ----------- --------- --------- ----------------\n";
    static struct count_row rows[SYSTEM_CALL_NUMBERS + 1]; /* large */
    struct count_row total;
    size_t row_count = collect(counts, rows, &total);
    char name[NAME_BYTES];

    fprintf(stream, "%% time     seconds  usecs/call     calls    errors syscall\n%s", rule);
    for (size_t i = 0; i < row_count; i++) {
        put_row(stream, &rows[i], &total);
        fprintf(stream, "%s\n", name_row(&rows[i], name));
    }
    fputs(rule, stream);
    put_row(stream, &total, &total);
    fputs("total\n", stream);
}

void system_call_counts_put_json(const struct system_call_counts *counts, FILE *stream)
{
    struct json_writer json = {.stream = stream, .layout = JSON_SPACED};
    static struct count_row rows[SYSTEM_CALL_NUMBERS + 1]; /* large */
    struct count_row total;
    size_t row_count = collect(counts, rows, &total);
    char name[NAME_BYTES];

    json_writer_open(&json, NULL, '[');
    for (size_t i = 0; i < row_count; i++) {
        json_writer_open_line(&json, 2, NULL, '{');
        json_writer_text(&json, "call", name_row(&rows[i], name));
        json_writer_count(&json, "calls", rows[i].count.calls);
        json_writer_count(&json, "errors", rows[i].count.errors);
        json_writer_count(&json, "total_ns", rows[i].count.total_ns);
        json_writer_close(&json, '}');
    }
    json_writer_break(&json, 0);
    json_writer_close(&json, ']');
    fputs("\n", stream);
}
