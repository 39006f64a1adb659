/* SPDX-License-Identifier: MIT */
/*
 * The core's code ends with its last mark.
 * configurations: debug-*
 */
#include "base/own_code.h"
#include "base/raw_syscall.h"
#include "hook/hook_table.h"
#include "support/check.h"

static void all_code_of_the_core_is_before_the_mark(void)
{
    CHECK((uintptr_t)own_code_last > (uintptr_t)raw_syscall);
    CHECK((uintptr_t)own_code_last > (uintptr_t)hook_table_destroy);
    own_code_last();
}

int main(void)
{
    static const struct check_case cases[] = {CHECK_CASE(all_code_of_the_core_is_before_the_mark)};

    return check_run(cases, 1);
}
