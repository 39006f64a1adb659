/* SPDX-License-Identifier: MIT */
#include "elf/code_pointers.h"

#include "support/check.h"
#include "support/handmade_functions.h"

static struct handmade_functions made;
static uint64_t taken[8];
static size_t taken_count;

static void take(void *context, uint64_t address)
{
    CHECK(context == taken);
    if (taken_count < 8)
        taken[taken_count++] = address;
}

static void visit(void)
{
    struct elf_symbols symbols;

    taken_count = 0;
    CHECK_EQUAL(elf_symbols_parse(&made, sizeof(made), &symbols), 0);
    elf_code_pointers_visit(&symbols, take, taken);
}

static void addresses_of_code_are_told(void)
{
    handmade_functions_make(&made);
    visit();
    CHECK_EQUAL(taken_count, 2);
    CHECK_EQUAL(taken[0], 0x1070);
    CHECK_EQUAL(taken[1], 0x1040);
}

static void damaged_sections_are_left_out(void)
{
    handmade_functions_make(&made);
    made.sections[5].sh_offset = sizeof(made) - 8;
    visit();
    CHECK_EQUAL(taken_count, 0);
    handmade_functions_make(&made);
    made.sections[5].sh_size = UINT64_MAX;
    visit();
    CHECK_EQUAL(taken_count, 0);
    handmade_functions_make(&made);
    made.sections[5].sh_entsize = 8;
    visit();
    CHECK_EQUAL(taken_count, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(addresses_of_code_are_told),
    CHECK_CASE(damaged_sections_are_left_out),
};

CHECK_MAIN(cases)
