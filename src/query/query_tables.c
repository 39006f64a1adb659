/* SPDX-License-Identifier: MIT */
/* The list of tables, made from query_tables.def. Stateless. */
#include "query/query_table.h"

#define QUERY_TABLE(name) extern const struct query_table query_table_##name;
#include "query/query_tables.def"
#undef QUERY_TABLE

static const struct query_table *const tables[] = {
#define QUERY_TABLE(name) &query_table_##name,
#include "query/query_tables.def"
#undef QUERY_TABLE
};

const struct query_table *query_tables_get(size_t which)
{
    return which < sizeof(tables) / sizeof(tables[0]) ? tables[which] : NULL;
}

int query_tables_register(sqlite3 *database, const char *prefix, struct query_source *source)
{
    int result = SQLITE_OK;

    for (size_t i = 0; result == SQLITE_OK && query_tables_get(i) != NULL; i++) {
        char *name = sqlite3_mprintf("%s%s", prefix, tables[i]->name);

        result = name == NULL ? SQLITE_NOMEM : query_module_register(database, name, tables[i], source);
        sqlite3_free(name);
    }
    return result;
}

bool query_tables_describe(size_t which, struct query_table_text *text_out)
{
    const struct query_table *table = query_tables_get(which);

    if (table == NULL)
        return false;
    *text_out = (struct query_table_text){table->name, table->meaning, table->columns, table->column_count};
    return true;
}
