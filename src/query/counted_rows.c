/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "query/counted_rows.h"

#include "trace/event_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the order --------------------------------------------------------------------------------------------------- */

/* NULL is before all texts. */
static int compare_texts(const char *left, const char *right)
{
    if (left == NULL || right == NULL)
        return (left != NULL) - (right != NULL);
    return strcmp(left, right);
}

static int compare_numbers(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

static const char *text_or_null(const char *text)
{
    return text[0] == '\0' ? NULL : text;
}

static int compare_threads(const struct view_trace *trace, int column, size_t left, size_t right)
{
    const struct view_thread *threads = trace->threads;

    switch (column) {
    case PLACE_PID:
        return compare_numbers(trace->processes[threads[left].process].pid,
                               trace->processes[threads[right].process].pid);
    case PLACE_TID:
        return compare_numbers(threads[left].tid, threads[right].tid);
    case PLACE_THREAD:
        return compare_texts(text_or_null(threads[left].name), text_or_null(threads[right].name));
    default:
        return compare_numbers(left, right);
    }
}

static int compare_functions(struct query_source *source, int column, uint32_t left, uint32_t right)
{
    struct query_function functions[2];

    if (left == right)
        return 0;
    functions[0] = column == PLACE_FILE || column == PLACE_LINE ? *query_source_placed(source, left)
                                                                : *query_source_function(source, left);
    functions[1] = column == PLACE_FILE || column == PLACE_LINE ? *query_source_placed(source, right)
                                                                : *query_source_function(source, right);
    switch (column) {
    case PLACE_FUNCTION:
        return strcmp(functions[0].shown->name, functions[1].shown->name);
    case PLACE_MODULE:
        return compare_texts(functions[0].module, functions[1].module);
    case PLACE_ADDRESS:
        return compare_numbers(functions[0].shown->address ^ 1ull << 63, functions[1].shown->address ^ 1ull << 63);
    case PLACE_FILE:
        return compare_texts(functions[0].file, functions[1].file);
    case PLACE_LINE:
        return compare_numbers(functions[0].line, functions[1].line);
    default:
        return compare_numbers((uint64_t)functions[0].id ^ 1ull << 63, (uint64_t)functions[1].id ^ 1ull << 63);
    }
}

static bool is_of_thread(int column)
{
    return column == PLACE_PID || column == PLACE_TID || column == PLACE_THREAD || column == PLACE_THREAD_ID;
}

static const char *kind_name(uint32_t kind)
{
    return kind == 0 ? "" : event_name((unsigned)__builtin_ctz(kind));
}

static int compare_counted(const void *left_rows, const void *right_rows, void *context)
{
    const struct event_tally_count *left = left_rows, *right = right_rows;
    const struct query_cursor *cursor = context;

    for (size_t i = 0; i < cursor->wish.order_count; i++) {
        const struct query_order *order = &cursor->wish.orders[i];
        int result;

        if (is_of_thread(order->column))
            result = compare_threads(cursor->source->trace, order->column, left->thread, right->thread);
        else if (order->column < PLACE_COLUMNS)
            result = compare_functions(cursor->source, order->column, left->function, right->function);
        else
            result = strcmp(kind_name(left->kind), kind_name(right->kind));
        if (result != 0)
            return order->is_descending ? -result : result;
    }
    return 0;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

bool counted_rows_suit(const struct query_wish *wish, int column_count)
{
    for (size_t i = 0; i < wish->order_count; i++)
        if (wish->orders[i].column >= column_count)
            return false;
    return !wish->has_row_numbers && (wish->columns & ~((1ull << column_count) - 1)) == 0;
}

bool counted_rows_weigh(const struct query_cursor *cursor)
{
    return count_weights_allow(&cursor->source->weights);
}

int counted_rows_init(struct counted_rows *rows, struct query_cursor *cursor, enum event_tally_subject subject)
{
    const struct view_trace *trace = cursor->source->trace;
    bool *wanted = calloc(trace->thread_count + 1, sizeof(*wanted));
    int result;

    *rows = (struct counted_rows){.cursor = cursor, .at = SIZE_MAX, .is_weighing = counted_rows_weigh(cursor)};
    place_verdicts_init(&rows->verdicts, cursor);
    if (wanted == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < trace->thread_count; i++) {
        struct place_thread place = place_of_thread(trace, i);

        wanted[i] = place_takes_thread(cursor, &place);
    }
    result = event_tally_init(&rows->tally, cursor->source, subject, wanted);
    free(wanted);
    if (result == 0 && cursor->wish.order_count != 0)
        qsort_r(rows->tally.counts, rows->tally.count, sizeof(*rows->tally.counts), compare_counted, cursor);
    cursor->source->weights.is_weighing = rows->is_weighing;
    return result;
}

void counted_rows_deinit(struct counted_rows *rows)
{
    if (rows->is_weighing)
        rows->cursor->source->weights.is_weighing = false;
    place_verdicts_deinit(&rows->verdicts);
    event_tally_deinit(&rows->tally);
}

static bool is_wanted(struct counted_rows *rows, const struct event_tally_count *count, uint32_t kinds)
{
    return (count->kind == 0 || count->kind & kinds) &&
           place_takes_function(&rows->verdicts, rows->cursor, count->function);
}

const struct event_tally_count *counted_rows_next(struct counted_rows *rows, uint32_t kinds)
{
    struct count_weights *weights = &rows->cursor->source->weights;
    const struct event_tally_count *counts = rows->tally.counts;

    if (rows->left != 0) {
        rows->left--;
        return &counts[rows->at];
    }
    weights->weight = 0;
    do
        if (++rows->at >= rows->tally.count)
            return NULL;
    while (!is_wanted(rows, &counts[rows->at], kinds));
    if (rows->is_weighing)
        weights->weight = counts[rows->at].count;
    else if (!rows->cursor->wish.is_distinct)
        rows->left = counts[rows->at].count - 1;
    return &counts[rows->at];
}
