/* SPDX-License-Identifier: MIT */
/*
 * The columns with which rows of calls, events, details and stacks begin: which function, in which thread. Conditions
 * of them are looked at once for each thread, and once for each function. One thread at a time.
 */
#ifndef GAIT_QUERY_PLACE_COLUMNS_H
#define GAIT_QUERY_PLACE_COLUMNS_H

#include "query/query_table.h"

enum place_column {
    PLACE_FUNCTION,
    PLACE_MODULE,
    PLACE_FILE,
    PLACE_LINE,
    PLACE_PID,
    PLACE_TID,
    PLACE_THREAD,
    PLACE_FUNCTION_ID,
    PLACE_THREAD_ID,
    PLACE_ADDRESS,
    PLACE_COLUMNS, /* a table's own begin here */
};

/* What they are declared as, for the beginning of a table's list; `what` is what the function is to the row. */
#define PLACE_COLUMN_LIST(what)                                                                                        \
    {"function", "TEXT", what, QUERY_PUSH_TEXT},                                                                       \
        {"module", "TEXT", "the name of the file that the function is in", QUERY_PUSH_TEXT},                           \
        {"file", "TEXT", "its source file, where that is known", 0}, {"line", "INTEGER", "and the line there", 0},     \
        {"pid", "INTEGER", "the process", QUERY_PUSH_NUMBER | QUERY_PUSH_THREAD},                                      \
        {"tid", "INTEGER", "the thread", QUERY_PUSH_NUMBER | QUERY_PUSH_THREAD},                                       \
        {"thread", "TEXT", "the thread's name", QUERY_PUSH_TEXT | QUERY_PUSH_THREAD},                                  \
        {"function_id", "INTEGER", "of functions.function_id", QUERY_PUSH_NUMBER},                                     \
        {"thread_id", "INTEGER", "of threads.thread_id; a tid may come again", QUERY_PUSH_NUMBER | QUERY_PUSH_THREAD}, \
    {                                                                                                                  \
        "address", "INTEGER", "where the function begins", QUERY_PUSH_NUMBER                                           \
    }

/* A thread as these columns show it. */
struct place_thread {
    size_t process; /* index */
    size_t thread;  /* index; SIZE_MAX: it has no events */
    uint32_t tid;
    const char *name;
};

struct place_thread place_of_thread(const struct view_trace *trace, size_t thread);

/* Whether the thread meets the conditions. */
bool place_takes_thread(const struct query_cursor *cursor, const struct place_thread *thread);

/* What was found of functions, by their number. All zero at first. */
struct place_verdicts {
    uint8_t *verdicts;
    size_t count;
    bool is_needed; /* there are conditions */
};

void place_verdicts_init(struct place_verdicts *verdicts, const struct query_cursor *cursor);
void place_verdicts_deinit(struct place_verdicts *verdicts);

/* Whether the function meets the conditions. Without memory it does, and SQLite sees. */
bool place_takes_function(struct place_verdicts *verdicts, const struct query_cursor *cursor, uint32_t number);

/* Whether any column is wanted, or compared, for which the function must be known. */
bool place_needs_function(const struct query_cursor *cursor);

/* Puts one of these columns. */
void place_column_put(const struct query_cursor *cursor, sqlite3_context *result, int column,
                      const struct place_thread *thread, uint32_t function);

/* The name of a function, also in columns of a table's own; VIEW_NO_FUNCTION: NULL. */
void place_name_put(struct query_source *source, sqlite3_context *result, uint32_t function);

/* A text that stays; NULL and "": NULL. */
void place_text_put(sqlite3_context *result, const char *text);

#endif
