/* SPDX-License-Identifier: MIT */
#include "arch/cpu.h"

#include "support/check.h"

extern const struct cpu cpu_x86_64;

static void it_has_all_parts(void)
{
    CHECK_TEXT(cpu_x86_64.name, "x86_64");
    CHECK(cpu_x86_64.abi != NULL);
    CHECK(cpu_x86_64.arch != NULL);
    CHECK(cpu_x86_64.engine != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(it_has_all_parts),
};

CHECK_MAIN(cases)
