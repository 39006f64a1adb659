/* SPDX-License-Identifier: MIT */
/* Tables by themselves; test_branch_survey.c has them with the code that uses them. */
#include "hook/jump_table.h"

#include "support/check.h"
#include "support/planned_code.h"

#include <string.h>

#define FUNCTION_BYTES 64

static struct planned_code code;

static struct elf_function *add_long(const char *name)
{
    struct elf_function *function = planned_code_add(&code, name, "", 0);

    planned_code_fill(&code, 0x90, FUNCTION_BYTES);
    function->size_bytes = FUNCTION_BYTES;
    return function;
}

static bool is_taken(uint64_t address)
{
    return hook_planner_is_taken(&code.planner, address, address + 1);
}

static struct hook_code code_of(const struct elf_function *function)
{
    struct hook_code there;

    CHECK(hook_planner_code(&code.planner, function->start, &there));
    there.end = function->start + FUNCTION_BYTES;
    return there;
}

static void entries_count_as_far_as_they_lead_into_the_function(void)
{
    const struct elf_function *function, *other;
    uint64_t pointers[4];
    struct hook_code own;

    planned_code_init(&code);
    function = add_long("function");
    other = add_long("other");
    pointers[0] = function->start + 8;
    pointers[1] = function->start + 16;
    pointers[2] = other->start + 8;
    pointers[3] = function->start + 24;
    memcpy(code.data, pointers, sizeof(pointers));
    planned_code_survey(&code);
    own = code_of(function);
    hook_planner_add_table(&code.planner, &own, PLANNED_DATA, JUMP_TABLE_DISTANCES, 0);
    CHECK(!is_taken(function->start + 8));
    hook_planner_add_table(&code.planner, &own, PLANNED_DATA, JUMP_TABLE_POINTERS, 0);
    CHECK(is_taken(function->start + 8));
    CHECK(is_taken(function->start + 16));
    CHECK(!is_taken(other->start + 8));
    CHECK(!is_taken(function->start + 24));
    planned_code_deinit(&code);
}

static void branches_out_of_code_are_entries_of_other_code(void)
{
    const struct elf_function *function, *piece;
    struct hook_code own;

    planned_code_init(&code);
    function = add_long("function");
    piece = add_long(NULL);
    planned_code_survey(&code);
    own = code_of(function);
    hook_planner_add_branch(&code.planner, &own, piece->start, false);
    CHECK(!hook_planner_is_part(&code.planner, piece));
    hook_planner_add_branch(&code.planner, &own, piece->start, true);
    CHECK(hook_planner_is_part(&code.planner, piece));
    hook_planner_add_branch(&code.planner, &own, function->start + 5, true);
    CHECK(is_taken(function->start + 5));
    planned_code_deinit(&code);
}

static const struct check_case cases[] = {
    CHECK_CASE(entries_count_as_far_as_they_lead_into_the_function),
    CHECK_CASE(branches_out_of_code_are_entries_of_other_code),
};

CHECK_MAIN(cases)
