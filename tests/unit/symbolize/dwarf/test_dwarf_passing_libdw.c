/* SPDX-License-Identifier: MIT */
/* Through what is found of whole functions: places of later arguments tell how the earlier ones are passed. */
#include "symbolize/dwarf/dwarf_passing.h"

#include "support/check.h"
#include "support/described_functions.h"
#include "symbolize/dwarf/dwarf_arguments.h"

#include <elf.h>
#include <link.h>

extern const char __executable_start[];

static struct dwarf_arguments *file;
static struct dwarf_function function;

static void find(const void *address)
{
    const ElfW(Ehdr) *header = (const void *)__executable_start;
    uint64_t base = header->e_type == ET_DYN ? (uintptr_t)__executable_start : 0;

    CHECK_EQUAL(dwarf_arguments_find(file, (uintptr_t)address - base, &function), 0);
}

static void check_place(unsigned which, enum detail_type type, unsigned place)
{
    CHECK_EQUAL(function.declaration.fields[which].type, type);
    CHECK_EQUAL(function.declaration.fields[which].place, place);
}

static void structs_take_registers_or_the_stack(void)
{
    find(described_structs);
    CHECK_EQUAL(function.declaration.count, 6);
    for (unsigned i = 0; i < 4; i++)
        check_place(i, DETAIL_TYPE_SKIPPED, DETAIL_PLACE_NONE);
    /* One for the small one, and one for the mixed one. */
    check_place(4, DETAIL_TYPE_I64, 2);
    /* Two for the floats, one for the mixed one; the large one is on the stack. */
    check_place(5, DETAIL_TYPE_DOUBLE, DETAIL_PLACE_VECTOR + 3);
}

static void a_large_result_takes_the_first_register(void)
{
    find(described_hidden);
    check_place(0, DETAIL_TYPE_I32, 1);
    CHECK_EQUAL(function.declaration.result.type, DETAIL_TYPE_SKIPPED);
    find(described_returned);
    check_place(0, DETAIL_TYPE_I32, 0);
}

static void what_does_not_fit_is_on_the_stack(void)
{
    find(described_many);
    check_place(5, DETAIL_TYPE_I64, 5);
    check_place(6, DETAIL_TYPE_I16, DETAIL_PLACE_STACK);
    check_place(7, DETAIL_TYPE_STRING, DETAIL_PLACE_STACK + 1);
    check_place(8, DETAIL_TYPE_SKIPPED, DETAIL_PLACE_NONE);
    check_place(9, DETAIL_TYPE_I64, DETAIL_PLACE_STACK + 4);
}

/* A number of two words is not split; a later one may still get a register. */
static void two_words_stay_together(void)
{
    find(described_pairs);
    check_place(4, DETAIL_TYPE_I64, 4);
    check_place(5, DETAIL_TYPE_SKIPPED, DETAIL_PLACE_NONE);
    check_place(6, DETAIL_TYPE_SKIPPED, DETAIL_PLACE_NONE);
    check_place(7, DETAIL_TYPE_I64, DETAIL_PLACE_STACK + 2);
}

static const struct check_case cases[] = {
    CHECK_CASE(structs_take_registers_or_the_stack),
    CHECK_CASE(a_large_result_takes_the_first_register),
    CHECK_CASE(what_does_not_fit_is_on_the_stack),
    CHECK_CASE(two_words_stay_together),
};

int main(void)
{
    int status;

    if (dwarf_arguments_open("/proc/self/exe", &file) != 0)
        check_skip("this test was built without debug information");
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    dwarf_arguments_close(file);
    return status;
}
