/* SPDX-License-Identifier: MIT */
#include "arch/perf_registers.h"

#include "support/check.h"

#if defined(__aarch64__)

#include <asm/perf_regs.h>
#include <asm/ptrace.h>
#include <stddef.h>

static void registers_are_where_the_kernel_has_them(void)
{
    const struct perf_registers *registers = perf_registers_host();
    char name[8];

    CHECK_EQUAL(registers->count, PERF_REG_ARM64_X29 + 1);
    for (unsigned i = 0; i < registers->count; i++) {
        snprintf(name, sizeof(name), "x%u", i);
        CHECK_TEXT(registers->all[i].name, name);
        CHECK_EQUAL(registers->all[i].perf_number, PERF_REG_ARM64_X0 + i);
        CHECK_EQUAL(registers->all[i].saved_offset, offsetof(struct user_pt_regs, regs) + i * sizeof(uint64_t));
    }
}

static void arguments_are_those_of_the_calling_convention(void)
{
    const struct perf_registers *registers = perf_registers_host();

    CHECK_EQUAL(registers->argument_count, 8);
    for (unsigned i = 0; i < 8; i++)
        CHECK_EQUAL(registers->arguments[i], i);
    CHECK_EQUAL(registers->result, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(registers_are_where_the_kernel_has_them),
    CHECK_CASE(arguments_are_those_of_the_calling_convention),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("this table is that of arm64");
}

#endif
