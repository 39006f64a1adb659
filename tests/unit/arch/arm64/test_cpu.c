/* SPDX-License-Identifier: MIT */
#include "arch/cpu.h"

#include "arch/abi.h"
#include "support/check.h"

extern const struct cpu cpu_arm64;

static void files_of_it_can_be_read(void)
{
    CHECK_TEXT(cpu_arm64.name, "arm64");
    CHECK(cpu_arm64.abi != NULL);
    CHECK(cpu_arm64.abi->read_probe_operand != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(files_of_it_can_be_read),
};

CHECK_MAIN(cases)
