/* SPDX-License-Identifier: MIT */
#include "query/query_table.h"

#include "support/check.h"

static void every_table_is_whole_and_has_its_own_name(void)
{
    const struct query_table *table;
    size_t count = 0;

    for (; (table = query_tables_get(count)) != NULL; count++) {
        CHECK(table->begin != NULL && table->next != NULL && table->column != NULL && table->end != NULL);
        CHECK(table->cost != NULL && table->cursor_bytes >= sizeof(struct query_cursor) && table->meaning[0] != '\0');
        for (size_t i = 0; i < count; i++)
            CHECK(strcmp(query_tables_get(i)->name, table->name) != 0);
    }
    CHECK_EQUAL(count, 13);
}

static void every_column_is_described(void)
{
    struct query_table_text text;

    for (size_t i = 0; query_tables_describe(i, &text); i++) {
        CHECK_TEXT(text.name, query_tables_get(i)->name);
        CHECK(text.column_count < 64);
        for (size_t j = 0; j < text.column_count; j++) {
            CHECK(text.columns[j].name != NULL && text.columns[j].meaning != NULL);
            CHECK(strcmp(text.columns[j].type, "TEXT") == 0 || strcmp(text.columns[j].type, "INTEGER") == 0 ||
                  strncmp(text.columns[j].name, "arg", 3) == 0);
            CHECK(!(text.columns[j].pushes & QUERY_PUSH_TEXT) || strcmp(text.columns[j].type, "TEXT") == 0);
            for (size_t k = 0; k < j; k++)
                CHECK(strcmp(text.columns[k].name, text.columns[j].name) != 0);
        }
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(every_table_is_whole_and_has_its_own_name),
    CHECK_CASE(every_column_is_described),
};

CHECK_MAIN(cases)
