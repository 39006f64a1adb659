/* SPDX-License-Identifier: MIT */
#include "symbolize/code_table_builder.h"

#include "support/check.h"
#include "support/random.h"

#include <errno.h>

static struct code_table_builder builder;
static struct code_table table;
static void *block;

static void finish(void)
{
    size_t size_bytes = 0;

    CHECK_EQUAL(code_table_builder_finish(&builder, &block, &size_bytes), 0);
    CHECK_EQUAL(code_table_check(block, size_bytes, &table), 0);
}

static void forget(void)
{
    free(block);
    code_table_builder_deinit(&builder);
}

static uint32_t add(const char *name, uint32_t parent, uint64_t begin, uint64_t end)
{
    struct code_name text = {code_table_builder_add_text(&builder, name), false};
    uint32_t scope = code_table_builder_add_scope(&builder, text, parent, (struct source_location){0, 0, 7});

    code_table_builder_add_range(&builder, scope, begin, end);
    return scope;
}

/* The names of what is at an address, the innermost first. */
static void expect(uint64_t address, const char *names)
{
    char text[256] = "";

    for (const struct code_scope *scope = code_table_scope(&table, address); scope != NULL;
         scope = code_table_parent(&table, scope)) {
        size_t used = strlen(text);

        snprintf(text + used, sizeof(text) - used, "%s ", code_table_name(&table, scope));
    }
    CHECK_TEXT(text, names);
}

static void what_is_inside_covers_what_is_around(void)
{
    uint32_t outer, inner;

    code_table_builder_init(&builder);
    outer = add("outer", 0, 0x1000, 0x1100);
    inner = add("inner", outer, 0x1010, 0x1020);
    code_table_builder_add_range(&builder, inner, 0x1030, 0x1040);
    add("deep", inner, 0x1010, 0x1018);
    add("last", outer, 0x10f0, 0x1100);
    add("other", 0, 0x1100, 0x1200);
    finish();
    expect(0xfff, "");
    expect(0x1000, "outer ");
    expect(0x1010, "deep inner outer ");
    expect(0x1018, "inner outer ");
    expect(0x1020, "outer ");
    expect(0x103f, "inner outer ");
    expect(0x1040, "outer ");
    expect(0x10ff, "last outer ");
    expect(0x1100, "other ");
    expect(0x1200, "");
    expect(UINT64_MAX, "");
    forget();
}

static void ranges_that_cross_are_cut_off(void)
{
    uint32_t outer;

    code_table_builder_init(&builder);
    outer = add("outer", 0, 0x1000, 0x1100);
    add("inner", outer, 0x1080, 0x1200);
    add("backwards", outer, 0x1050, 0x1040);
    finish();
    expect(0x1090, "inner outer ");
    expect(0x1100, "");
    expect(0x1045, "outer ");
    forget();
}

static void put_line(uint64_t address, uint16_t file, uint32_t line)
{
    code_table_builder_add_line(&builder, address, (struct source_location){file, 0, line});
}

static void lines_cover_code_up_to_the_next(void)
{
    uint16_t first, second;

    code_table_builder_init(&builder);
    first = code_table_builder_add_file(&builder, "/src/first.c");
    second = code_table_builder_add_file(&builder, "/src/second.c");
    CHECK_EQUAL(code_table_builder_add_file(&builder, "/src/first.c"), first);
    put_line(0x2000, second, 20);
    put_line(0x1000, first, 10);
    put_line(0x1008, first, 10);
    put_line(0x1010, first, 11);
    put_line(0x1010, first, 12);
    put_line(0x1020, 0, 0);
    finish();
    CHECK_EQUAL(table.header->line_count, 4);
    CHECK(code_table_line(&table, 0xfff) == NULL);
    CHECK_EQUAL(code_table_line(&table, 0x100f)->line, 10);
    CHECK_EQUAL(code_table_line(&table, 0x1010)->line, 12);
    CHECK(code_table_line(&table, 0x1020) == NULL);
    CHECK_TEXT(code_table_file(&table, code_table_line(&table, 0x2fff)->file), "/src/second.c");
    CHECK(code_table_file(&table, 0) == NULL);
    forget();
}

static void what_is_too_far_away_is_left_out(void)
{
    code_table_builder_init(&builder);
    add("near", 0, 0x1000, 0x1100);
    add("far", 0, 0x2000001000, 0x2000001100);
    finish();
    expect(0x1000, "near ");
    expect(0x2000001000, "");
    forget();
}

static void nothing_is_fine(void)
{
    code_table_builder_init(&builder);
    finish();
    expect(0, "");
    expect(0x1000, "");
    CHECK(code_table_line(&table, 0x1000) == NULL);
    forget();
}

/* Whatever ranges are put in, the table is in order. */
static void any_ranges_make_a_table(void)
{
    struct random random;

    random_init(&random, 3);
    for (unsigned round = 0; round < 200; round++) {
        code_table_builder_init(&builder);
        for (uint32_t i = 0; i < 40; i++) {
            uint64_t begin = random_below(&random, 100), end = begin + random_below(&random, 50);

            add("x", (uint32_t)random_below(&random, i + 1), begin, end);
            put_line(random_below(&random, 100), 0, (uint32_t)i);
        }
        finish();
        forget();
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_inside_covers_what_is_around),
    CHECK_CASE(ranges_that_cross_are_cut_off),
    CHECK_CASE(lines_cover_code_up_to_the_next),
    CHECK_CASE(what_is_too_far_away_is_left_out),
    CHECK_CASE(nothing_is_fine),
    CHECK_CASE(any_ranges_make_a_table),
};

CHECK_MAIN(cases)
