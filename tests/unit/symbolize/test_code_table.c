/* SPDX-License-Identifier: MIT */
#include "symbolize/code_table.h"

#include "support/check.h"
#include "support/random.h"
#include "symbolize/code_table_builder.h"

#include <errno.h>

static void *make(size_t *size_out)
{
    struct code_table_builder builder;
    uint32_t outer, inner;
    uint16_t file;
    void *block = NULL;

    code_table_builder_init(&builder);
    file = code_table_builder_add_file(&builder, "/src/file.c");
    outer =
        code_table_builder_add_scope(&builder, (struct code_name){code_table_builder_add_text(&builder, "outer"), true},
                                     0, (struct source_location){file, 1, 5});
    inner = code_table_builder_add_scope(&builder,
                                         (struct code_name){code_table_builder_add_text(&builder, "inner"), false},
                                         outer, (struct source_location){file, 3, 8});
    code_table_builder_add_range(&builder, outer, 0x1000, 0x1100);
    code_table_builder_add_range(&builder, inner, 0x1010, 0x1020);
    code_table_builder_add_line(&builder, 0x1000, (struct source_location){file, 2, 6});
    code_table_builder_add_line(&builder, 0x1100, (struct source_location){0, 0, 0});
    CHECK_EQUAL(code_table_builder_finish(&builder, &block, size_out), 0);
    code_table_builder_deinit(&builder);
    return block;
}

static void all_that_was_put_in_can_be_asked(void)
{
    size_t size_bytes = 0;
    void *block = make(&size_bytes);
    const struct code_scope *scope;
    struct code_table table;

    CHECK_EQUAL(code_table_check(block, size_bytes, &table), 0);
    scope = code_table_scope(&table, 0x1010);
    CHECK_TEXT(code_table_name(&table, scope), "inner");
    CHECK_EQUAL(scope->line, 8);
    CHECK_EQUAL(scope->column, 3);
    CHECK(!scope->is_plain);
    scope = code_table_parent(&table, scope);
    CHECK_TEXT(code_table_name(&table, scope), "outer");
    CHECK(scope->is_plain);
    CHECK(code_table_parent(&table, scope) == NULL);
    CHECK_TEXT(code_table_file(&table, scope->file), "/src/file.c");
    CHECK_EQUAL(code_table_line(&table, 0x10ff)->line, 6);
    CHECK(code_table_line(&table, 0x1100) == NULL);
    free(block);
}

static void blocks_that_are_cut_off_are_refused(void)
{
    size_t size_bytes = 0;
    uint8_t *block = make(&size_bytes);
    struct code_table table;

    for (size_t i = 0; i < size_bytes; i++)
        CHECK_EQUAL(code_table_check(block, i, &table), -EPROTO);
    CHECK_EQUAL(code_table_check(block + 4, size_bytes - 4, &table), -EPROTO);
    free(block);
}

/* What is damaged is refused, or can be asked without harm. */
static void damaged_blocks_do_no_harm(void)
{
    size_t size_bytes = 0, refused = 0;
    uint8_t *block = make(&size_bytes), *copy = malloc(size_bytes);
    struct code_table table;
    struct random random;

    random_init(&random, 11);
    for (unsigned round = 0; round < 20000; round++) {
        memcpy(copy, block, size_bytes);
        copy[random_below(&random, size_bytes)] ^= (uint8_t)(1 + random_below(&random, 255));
        if (code_table_check(copy, size_bytes, &table) != 0) {
            refused++;
            continue;
        }
        for (uint64_t address = 0xff0; address < 0x1110; address += 8) {
            const struct code_line *line = code_table_line(&table, address);
            const struct code_scope *scope = code_table_scope(&table, address);

            CHECK(line == NULL || strlen(code_table_file(&table, line->file)) < size_bytes);
            for (; scope != NULL; scope = code_table_parent(&table, scope))
                CHECK(strlen(code_table_name(&table, scope)) < size_bytes);
        }
    }
    CHECK(refused > 1000);
    free(copy);
    free(block);
}

static const struct check_case cases[] = {
    CHECK_CASE(all_that_was_put_in_can_be_asked),
    CHECK_CASE(blocks_that_are_cut_off_are_refused),
    CHECK_CASE(damaged_blocks_do_no_harm),
};

CHECK_MAIN(cases)
