/* SPDX-License-Identifier: MIT */
/*
 * Code of ours is told from the program's, also where both are in one file.
 * configurations: debug-*
 */
#include "libgait/own_module.h"

#include "hook/hook_table.h"
#include "support/check.h"

static void the_core_is_ours_and_the_program_is_not(void)
{
    uint64_t start, end;

    own_module_find(&start, &end);
    CHECK(start < end);
    CHECK((uintptr_t)hook_table_create >= start && (uintptr_t)hook_table_create < end);
    CHECK(!((uintptr_t)the_core_is_ours_and_the_program_is_not >= start &&
            (uintptr_t)the_core_is_ours_and_the_program_is_not < end));
    CHECK(!((uintptr_t)printf >= start && (uintptr_t)printf < end));
}

int main(void)
{
    static const struct check_case cases[] = {CHECK_CASE(the_core_is_ours_and_the_program_is_not)};

    return check_run(cases, 1);
}
