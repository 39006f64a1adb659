/* SPDX-License-Identifier: MIT */
/*
 * The core's code begins with its first mark.
 * configurations: debug-*
 */
#include "base/own_code.h"
#include "base/raw_syscall.h"
#include "hook/hook_table.h"
#include "support/check.h"

static void all_code_of_the_core_is_behind_the_mark(void)
{
    CHECK((uintptr_t)own_code_first < (uintptr_t)raw_syscall);
    CHECK((uintptr_t)own_code_first < (uintptr_t)hook_table_create);
    CHECK((uintptr_t)own_code_first < (uintptr_t)own_code_last);
    own_code_first();
}

int main(void)
{
    static const struct check_case cases[] = {CHECK_CASE(all_code_of_the_core_is_behind_the_mark)};

    return check_run(cases, 1);
}
