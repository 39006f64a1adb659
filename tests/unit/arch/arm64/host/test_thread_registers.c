/* SPDX-License-Identifier: MIT */
#include "arch/thread_registers.h"

#include "arch/cpu.h"
#include "support/check.h"

static void pc_and_sp_are_behind_the_31_registers(void)
{
    struct thread_registers registers = {{0}};

    if (strcmp(cpu_host()->name, "arm64") != 0)
        check_skip("this test is for arm64");
    thread_registers_set_sp(&registers, 11);
    thread_registers_set_pc(&registers, 22);
    CHECK_EQUAL(registers.words[31], 11);
    CHECK_EQUAL(registers.words[32], 22);
    CHECK_EQUAL(thread_registers_sp(&registers), 11);
    CHECK_EQUAL(thread_registers_pc(&registers), 22);
    CHECK_EQUAL(thread_registers_size_bytes(), 34 * 8);
}

static const struct check_case cases[] = {
    CHECK_CASE(pc_and_sp_are_behind_the_31_registers),
};

CHECK_MAIN(cases)
