/* SPDX-License-Identifier: MIT */
#include "arch/calling_thread.h"

#include "support/check.h"

#include <sys/utsname.h>

static void its_pointer_is_what_variables_are_found_by(void)
{
    struct variable_function function;
    struct utsname name;

    CHECK_EQUAL(uname(&name), 0);
    if (strcmp(name.machine, "aarch64") != 0)
        check_skip("this test is for arm64");
    CHECK_EQUAL(calling_thread_pointer(), (uintptr_t)__builtin_thread_pointer());
    CHECK(!variable_function_read((uintptr_t)its_pointer_is_what_variables_are_found_by, &function));
}

static const struct check_case cases[] = {
    CHECK_CASE(its_pointer_is_what_variables_are_found_by),
};

CHECK_MAIN(cases)
