/* SPDX-License-Identifier: MIT */
/* SQLite has no other way to say what it does not know than the text of its error. */
#define _GNU_SOURCE
#include "cli/hints.h"

#include "cli/options/nearest_name.h"
#include "gait/error.h"
#include "query/query.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char no_table[] = "no such table: ", no_column[] = "no such column: ";

static void offer_tables(struct nearest_names *nearest)
{
    struct query_table_text table;

    for (size_t i = 0; query_tables_describe(i, &table); i++)
        nearest_names_offer_other(nearest, table.name, strlen(table.name));
}

static bool is_of_name(char character)
{
    return isalnum((unsigned char)character) || character == '_';
}

static bool names_table(const char *sql, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = sql; (at = strcasestr(at, name)) != NULL; at += length)
        if ((at == sql || !is_of_name(at[-1])) && !is_of_name(at[length]))
            return true;
    return false;
}

/* Of the tables that the query names; if it names none, of all. */
static void offer_columns(struct nearest_names *nearest, const char *sql)
{
    struct query_table_text table;
    bool names_any = false;

    for (size_t i = 0; query_tables_describe(i, &table); i++)
        names_any = names_any || names_table(sql, table.name);
    for (size_t i = 0; query_tables_describe(i, &table); i++)
        for (size_t j = 0; j < table.column_count && (!names_any || names_table(sql, table.name)); j++)
            nearest_names_offer_other(nearest, table.columns[j].name, strlen(table.columns[j].name));
}

/* The columns of the first table that the query names; without any, where to look. */
static void list_columns(struct gait_error *err, const char *sql)
{
    struct query_table_text table;
    size_t used = strlen(err->text), which = 0;

    while (query_tables_describe(which, &table) && !names_table(sql, table.name))
        which++;
    if (!query_tables_describe(which, &table)) {
        snprintf(err->text + used, sizeof(err->text) - used, "; try 'gait query --schema'");
        return;
    }
    used += (size_t)snprintf(err->text + used, sizeof(err->text) - used, "; %s has ", table.name);
    for (size_t i = 0; i < table.column_count && used < sizeof(err->text); i++)
        used += (size_t)snprintf(err->text + used, sizeof(err->text) - used, "%s%s", i == 0 ? "" : ", ",
                                 table.columns[i].name);
}

void query_hint_add(struct gait_error *err, const char *sql)
{
    const char *table = strstr(err->text, no_table), *column = strstr(err->text, no_column);
    struct nearest_names nearest;
    char names[3 * NEAREST_NAME_BYTES];
    const char *name, *point;
    size_t used = strlen(err->text);

    if (table == NULL && column == NULL)
        return;
    name = table != NULL ? table + sizeof(no_table) - 1 : column + sizeof(no_column) - 1;
    /* "calls.functon", "main.call" */
    point = strrchr(name, '.');
    nearest_names_init(&nearest, point == NULL ? name : point + 1);
    if (table != NULL)
        offer_tables(&nearest);
    else
        offer_columns(&nearest, sql);
    nearest_names_join(&nearest, names, sizeof(names));
    if (names[0] != '\0')
        snprintf(err->text + used, sizeof(err->text) - used, "; did you mean %s?", names);
    else
        list_columns(err, table != NULL ? "" : sql);
}
