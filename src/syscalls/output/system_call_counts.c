/* SPDX-License-Identifier: MIT */
#include "syscalls/output/system_call_counts.h"

#include "hosted/json_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ERRORS     4095
#define NS_PER_S   1e9
#define NAME_BYTES 32

/* A word for a column, as people write it. Of those for one column the first is in no way better. */
static const struct {
    const char *word;
    enum system_call_column column;
} words[] = {
    {"time-percent", SYSTEM_CALL_COLUMN_SHARE}, {"time_percent", SYSTEM_CALL_COLUMN_SHARE},
    {"time", SYSTEM_CALL_COLUMN_SHARE},         {"total-time", SYSTEM_CALL_COLUMN_TOTAL},
    {"total_time", SYSTEM_CALL_COLUMN_TOTAL},   {"time-total", SYSTEM_CALL_COLUMN_TOTAL},
    {"time_total", SYSTEM_CALL_COLUMN_TOTAL},   {"min-time", SYSTEM_CALL_COLUMN_SHORTEST},
    {"min_time", SYSTEM_CALL_COLUMN_SHORTEST},  {"shortest", SYSTEM_CALL_COLUMN_SHORTEST},
    {"time-min", SYSTEM_CALL_COLUMN_SHORTEST},  {"time_min", SYSTEM_CALL_COLUMN_SHORTEST},
    {"max-time", SYSTEM_CALL_COLUMN_LONGEST},   {"max_time", SYSTEM_CALL_COLUMN_LONGEST},
    {"longest", SYSTEM_CALL_COLUMN_LONGEST},    {"time-max", SYSTEM_CALL_COLUMN_LONGEST},
    {"time_max", SYSTEM_CALL_COLUMN_LONGEST},   {"avg-time", SYSTEM_CALL_COLUMN_AVERAGE},
    {"avg_time", SYSTEM_CALL_COLUMN_AVERAGE},   {"time-avg", SYSTEM_CALL_COLUMN_AVERAGE},
    {"time_avg", SYSTEM_CALL_COLUMN_AVERAGE},   {"calls", SYSTEM_CALL_COLUMN_CALLS},
    {"count", SYSTEM_CALL_COLUMN_CALLS},        {"errors", SYSTEM_CALL_COLUMN_ERRORS},
    {"error", SYSTEM_CALL_COLUMN_ERRORS},       {"name", SYSTEM_CALL_COLUMN_NAME},
    {"syscall", SYSTEM_CALL_COLUMN_NAME},       {"syscall-name", SYSTEM_CALL_COLUMN_NAME},
    {"syscall_name", SYSTEM_CALL_COLUMN_NAME},  {"none", SYSTEM_CALL_COLUMN_NONE},
    {"nothing", SYSTEM_CALL_COLUMN_NONE},
};

static const struct {
    const char *title;
    int width;
} headings[SYSTEM_CALL_COLUMNS] = {
    [SYSTEM_CALL_COLUMN_SHARE] = {"% time", 6},        [SYSTEM_CALL_COLUMN_TOTAL] = {"seconds", 11},
    [SYSTEM_CALL_COLUMN_SHORTEST] = {"shortest", 8},   [SYSTEM_CALL_COLUMN_LONGEST] = {"longest", 8},
    [SYSTEM_CALL_COLUMN_AVERAGE] = {"usecs/call", 11}, [SYSTEM_CALL_COLUMN_CALLS] = {"calls", 9},
    [SYSTEM_CALL_COLUMN_ERRORS] = {"errors", 9},       [SYSTEM_CALL_COLUMN_NAME] = {"syscall", 16},
};

/* ---- options ----------------------------------------------------------------------------------------------------- */

void system_call_table_options_init(struct system_call_table_options *options)
{
    *options = (struct system_call_table_options){
        .columns = {SYSTEM_CALL_COLUMN_SHARE, SYSTEM_CALL_COLUMN_TOTAL, SYSTEM_CALL_COLUMN_AVERAGE,
                    SYSTEM_CALL_COLUMN_CALLS, SYSTEM_CALL_COLUMN_ERRORS, SYSTEM_CALL_COLUMN_NAME},
        .column_count = 6,
        .sort = SYSTEM_CALL_COLUMN_TOTAL,
    };
}

static int find_word(const char *text, size_t length, enum system_call_column *column_out)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i].word) != length || memcmp(words[i].word, text, length) != 0)
            continue;
        *column_out = words[i].column;
        return 0;
    }
    return -EINVAL;
}

int system_call_table_parse_sort(const char *text, struct system_call_table_options *options)
{
    return find_word(text, strlen(text), &options->sort);
}

static bool has_column(const struct system_call_table_options *options, enum system_call_column column)
{
    for (size_t i = 0; i < options->column_count; i++)
        if (options->columns[i] == column)
            return true;
    return false;
}

int system_call_table_parse_columns(const char *text, struct system_call_table_options *options)
{
    struct system_call_table_options chosen = *options;

    chosen.column_count = 0;
    for (;; text++) {
        enum system_call_column column;
        size_t length = strcspn(text, ",");

        if (find_word(text, length, &column) != 0 || column == SYSTEM_CALL_COLUMN_NONE || has_column(&chosen, column))
            return -EINVAL;
        chosen.columns[chosen.column_count++] = column;
        text += length;
        if (*text == '\0')
            break;
    }
    if (!has_column(&chosen, SYSTEM_CALL_COLUMN_NAME))
        chosen.columns[chosen.column_count++] = SYSTEM_CALL_COLUMN_NAME;
    *options = chosen;
    return 0;
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

void system_call_counts_add(struct system_call_counts *counts, const struct system_call_event *event)
{
    size_t place = event->number < SYSTEM_CALL_NUMBERS ? (size_t)event->number : SYSTEM_CALL_NUMBERS;
    struct system_call_count *count = &counts->by_number[place];
    uint64_t ns = counts->options.is_wall_clock ? event->system_ns : event->cpu_ns;

    if (event->kind != SYSTEM_CALL_LEFT || (event->flags & SYSTEM_CALL_NEVER_RETURNS) != 0)
        return;
    ns -= ns < counts->options.overhead_ns ? ns : counts->options.overhead_ns;
    if (count->calls == 0 || ns < count->shortest_ns)
        count->shortest_ns = ns;
    if (ns > count->longest_ns)
        count->longest_ns = ns;
    count->calls++;
    count->errors += event->result < 0 && event->result >= -ERRORS;
    count->total_ns += ns;
}

/* qsort has no context: numbers are sorted together with what they are sorted by. */
struct count_row {
    struct system_call_count count;
    size_t number;
    enum system_call_column sort;
};

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

static uint64_t average_of(const struct system_call_count *count)
{
    return count->calls == 0 ? 0 : count->total_ns / count->calls;
}

static uint64_t figure_of(const struct count_row *row)
{
    switch (row->sort) {
    case SYSTEM_CALL_COLUMN_SHARE:
    case SYSTEM_CALL_COLUMN_TOTAL:
        return row->count.total_ns;
    case SYSTEM_CALL_COLUMN_SHORTEST:
        return row->count.shortest_ns;
    case SYSTEM_CALL_COLUMN_LONGEST:
        return row->count.longest_ns;
    case SYSTEM_CALL_COLUMN_AVERAGE:
        return average_of(&row->count);
    case SYSTEM_CALL_COLUMN_CALLS:
        return row->count.calls;
    case SYSTEM_CALL_COLUMN_ERRORS:
        return row->count.errors;
    default:
        return 0;
    }
}

/* The most first, names by the alphabet; what is equal by number. */
static int compare(const void *left, const void *right)
{
    const struct count_row *a = left, *b = right;
    char first[NAME_BYTES], second[NAME_BYTES];

    if (a->sort == SYSTEM_CALL_COLUMN_NAME)
        return strcmp(name_row(a, first), name_row(b, second));
    if (figure_of(a) != figure_of(b))
        return figure_of(a) < figure_of(b) ? 1 : -1;
    return a->number < b->number ? -1 : 1;
}

/* The rows in their order, and what they add up to; NULL: there is no memory. The rows are the caller's to free. */
static struct count_row *collect(const struct system_call_counts *counts, size_t *row_count_out,
                                 struct system_call_count *total_out)
{
    struct count_row *rows = calloc(SYSTEM_CALL_NUMBERS + 1, sizeof(*rows));
    size_t row_count = 0;

    *total_out = (struct system_call_count){.shortest_ns = UINT64_MAX};
    for (size_t i = 0; rows != NULL && i <= SYSTEM_CALL_NUMBERS; i++) {
        const struct system_call_count *count = &counts->by_number[i];

        if (count->calls == 0)
            continue;
        rows[row_count++] = (struct count_row){*count, i, counts->options.sort};
        total_out->calls += count->calls;
        total_out->errors += count->errors;
        total_out->total_ns += count->total_ns;
        if (count->shortest_ns < total_out->shortest_ns)
            total_out->shortest_ns = count->shortest_ns;
        if (count->longest_ns > total_out->longest_ns)
            total_out->longest_ns = count->longest_ns;
    }
    if (row_count == 0)
        total_out->shortest_ns = 0;
    else
        qsort(rows, row_count, sizeof(rows[0]), compare);
    *row_count_out = row_count;
    return rows;
}

/* How a column shows a row; name is what the last one says. */
static void format_cell(char text[NAME_BYTES], enum system_call_column column, const struct system_call_count *count,
                        double share)
{
    switch (column) {
    case SYSTEM_CALL_COLUMN_SHARE:
        snprintf(text, NAME_BYTES, "%.2f", share);
        break;
    case SYSTEM_CALL_COLUMN_TOTAL:
        snprintf(text, NAME_BYTES, "%.6f", (double)count->total_ns / NS_PER_S);
        break;
    case SYSTEM_CALL_COLUMN_SHORTEST:
        snprintf(text, NAME_BYTES, "%.6f", (double)count->shortest_ns / NS_PER_S);
        break;
    case SYSTEM_CALL_COLUMN_LONGEST:
        snprintf(text, NAME_BYTES, "%.6f", (double)count->longest_ns / NS_PER_S);
        break;
    case SYSTEM_CALL_COLUMN_AVERAGE:
        snprintf(text, NAME_BYTES, "%lu", (unsigned long)(average_of(count) / 1000));
        break;
    case SYSTEM_CALL_COLUMN_CALLS:
        snprintf(text, NAME_BYTES, "%lu", (unsigned long)count->calls);
        break;
    case SYSTEM_CALL_COLUMN_ERRORS:
        snprintf(text, NAME_BYTES, "%lu", (unsigned long)count->errors);
        if (count->errors == 0)
            text[0] = '\0';
        break;
    default:
        text[0] = '\0';
        break;
    }
}

/* Names are on the left of their column, and need no room behind them where nothing follows. */
static void put_cell(FILE *stream, const struct system_call_counts *counts, size_t at, const char *text)
{
    enum system_call_column column = counts->options.columns[at];
    bool is_last = at + 1 == counts->options.column_count;
    int width = headings[column].width;

    if (column == SYSTEM_CALL_COLUMN_NAME)
        width = is_last ? 0 : -width;
    fprintf(stream, "%*s%c", width, text, is_last ? '\n' : ' ');
}

static void put_row(FILE *stream, const struct system_call_counts *counts, const struct system_call_count *count,
                    const char *name, double share)
{
    char text[NAME_BYTES];

    for (size_t i = 0; i < counts->options.column_count; i++) {
        format_cell(text, counts->options.columns[i], count, share);
        put_cell(stream, counts, i, counts->options.columns[i] == SYSTEM_CALL_COLUMN_NAME ? name : text);
    }
}

static void put_rule(FILE *stream, const struct system_call_counts *counts)
{
    static const char dashes[] = "--------------------------------";

    for (size_t i = 0; i < counts->options.column_count; i++)
        fprintf(stream, "%.*s%c", headings[counts->options.columns[i]].width, dashes,
                i + 1 == counts->options.column_count ? '\n' : ' ');
}

static double share_of(const struct system_call_count *count, const struct system_call_count *total)
{
    return total->total_ns == 0 ? 0 : 100.0 * (double)count->total_ns / (double)total->total_ns;
}

void system_call_counts_put(const struct system_call_counts *counts, FILE *stream)
{
    struct system_call_count total;
    size_t row_count;
    struct count_row *rows = collect(counts, &row_count, &total);
    char name[NAME_BYTES];

    for (size_t i = 0; i < counts->options.column_count; i++)
        put_cell(stream, counts, i, headings[counts->options.columns[i]].title);
    put_rule(stream, counts);
    for (size_t i = 0; rows != NULL && i < row_count; i++)
        put_row(stream, counts, &rows[i].count, name_row(&rows[i], name), share_of(&rows[i].count, &total));
    put_rule(stream, counts);
    put_row(stream, counts, &total, "total", 100);
    free(rows);
}

void system_call_counts_put_json(const struct system_call_counts *counts, FILE *stream)
{
    struct json_writer json = {.stream = stream, .layout = JSON_SPACED};
    struct system_call_count total;
    size_t row_count;
    struct count_row *rows = collect(counts, &row_count, &total);
    char name[NAME_BYTES];

    json_writer_open(&json, NULL, '[');
    for (size_t i = 0; rows != NULL && i < row_count; i++) {
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
    free(rows);
}
