/* SPDX-License-Identifier: MIT */
/* What the compiler put into functions of this program. */
#include "symbolize/dwarf/dwarf_scopes.h"

#include "support/check.h"
#include "support/own_dwarf.h"
#include "symbolize/dwarf/dwarf_range_list.h"
#include "symbolize/dwarf/dwarf_reader.h"

static volatile int sink;

static inline __attribute__((always_inline)) void innermost(int n)
{
    sink = n;
}

static const uint32_t inner_line = __LINE__ + 4;

static inline __attribute__((always_inline)) void middle(int n)
{
    innermost(n + sink);
}

static const uint32_t outer_line = __LINE__ + 4;

static __attribute__((noinline)) void outermost(int n)
{
    middle(n);
}

static struct own_dwarf own;
static struct code_table table;

/* The table of the unit that has an address. */
static void *make_table(uint64_t address)
{
    struct dwarf_range_list list = {.count = 0};
    struct dwarf_reader reader;
    size_t size_bytes;
    void *block = NULL;

    CHECK_EQUAL(dwarf_range_list_read(&list, &own.dwarf, &own.extent), 0);
    dwarf_reader_init(&reader, &own.dwarf, &own.extent);
    for (size_t i = 0; i < list.count && block == NULL; i++)
        if (list.ranges[i].begin <= address && address < list.ranges[i].end) {
            CHECK_EQUAL(dwarf_reader_make_table(&reader, list.ranges[i].unit, &block, &size_bytes), 0);
            CHECK_EQUAL(code_table_check(block, size_bytes, &table), 0);
        }
    dwarf_reader_deinit(&reader);
    free(list.ranges);
    CHECK(block != NULL);
    return block;
}

static bool has_chain(uint64_t address)
{
    const struct code_scope *scope = code_table_scope(&table, address);

    if (scope == NULL || strcmp(code_table_name(&table, scope), "innermost") != 0)
        return false;
    CHECK_EQUAL(scope->line, inner_line);
    scope = code_table_parent(&table, scope);
    CHECK(scope != NULL && strcmp(code_table_name(&table, scope), "middle") == 0);
    CHECK(scope != NULL && scope->line == outer_line);
    scope = scope == NULL ? NULL : code_table_parent(&table, scope);
    CHECK(scope != NULL && strcmp(code_table_name(&table, scope), "outermost") == 0);
    CHECK(scope != NULL && scope->line == outer_line - 2 && scope->parent == 0);
    CHECK(scope != NULL && strstr(code_table_file(&table, scope->file), "test_dwarf_scopes.c") != NULL);
    return true;
}

static void what_was_put_into_a_function_is_known(void)
{
    uint64_t address = own_dwarf_place((const void *)outermost);
    unsigned found = 0;
    void *block;

    outermost(1);
    own_dwarf_open(&own, NULL);
    block = make_table(address);
    for (uint64_t i = 0; i < 256 && code_table_scope(&table, address + i) != NULL; i++)
        found += has_chain(address + i);
    CHECK(found != 0);
    free(block);
    own_dwarf_close(&own);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_put_into_a_function_is_known),
};

CHECK_MAIN(cases)
