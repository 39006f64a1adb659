/* SPDX-License-Identifier: MIT */
#include "arch/system_call_registers.h"

#include "support/check.h"

#include <sys/utsname.h>

static void the_registers_are_those_of_the_kernel(void)
{
    static const long arguments[6] = {1, 2, 3, 4, 5, 6};
    struct thread_registers registers = {0};
    struct utsname name;

    CHECK_EQUAL(uname(&name), 0);
    if (strcmp(name.machine, "aarch64") != 0)
        check_skip("this test is for arm64");
    system_call_registers_set(&registers, 0x1234, 77, arguments);
    for (unsigned i = 0; i < 6; i++)
        CHECK_EQUAL(registers.words[i], i + 1);
    CHECK_EQUAL(registers.words[8], 77);
    CHECK_EQUAL(thread_registers_pc(&registers), 0x1234);
    CHECK_EQUAL(system_call_registers_result(&registers), 1);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_registers_are_those_of_the_kernel),
};

CHECK_MAIN(cases)
