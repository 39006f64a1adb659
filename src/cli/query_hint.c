/* SPDX-License-Identifier: MIT */
/* SQLite has no other way to say what it does not know than the text of its error. */
#include "cli/query_hint.h"

#include "cli/options/nearest_name.h"
#include "gait/error.h"
#include "query/query.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char no_table[] = "no such table: ", no_column[] = "no such column: ";

static void offer_tables(struct nearest_names *nearest)
{
    struct query_table_text table;

    for (size_t i = 0; query_tables_describe(i, &table); i++)
        nearest_names_offer(nearest, table.name, strlen(table.name));
}

static void offer_columns(struct nearest_names *nearest)
{
    struct query_table_text table;

    for (size_t i = 0; query_tables_describe(i, &table); i++)
        for (size_t j = 0; j < table.column_count; j++)
            nearest_names_offer(nearest, table.columns[j].name, strlen(table.columns[j].name));
}

void query_hint_add(struct gait_error *err)
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
        offer_columns(&nearest);
    nearest_names_join(&nearest, names, sizeof(names));
    if (names[0] != '\0')
        snprintf(err->text + used, sizeof(err->text) - used, "; did you mean %s?", names);
    else
        snprintf(err->text + used, sizeof(err->text) - used, "; try 'gait query --schema'");
}
