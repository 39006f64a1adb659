/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/x86_engine.h"

#include "gait/x86_64.h"
#include "stalker/system_call.h"
#include "support/check.h"

static struct gait_cpu_context cpu;

static void fill(void)
{
    for (unsigned i = 0; i < GAIT_CPU_REGISTER_COUNT; i++)
        cpu.registers[i] = 0x100 + i;
    cpu.pc = 0x5000;
    cpu.flags = 0x246;
}

static void a_system_call_has_its_number_and_arguments_in_registers(void)
{
    struct system_call call;

    fill();
    x86_registers.system_call_get(&cpu, &call);
    CHECK_EQUAL(call.number, gait_x86_64_rax(&cpu));
    CHECK_EQUAL(call.arguments[0], gait_x86_64_rdi(&cpu));
    CHECK_EQUAL(call.arguments[1], gait_x86_64_rsi(&cpu));
    CHECK_EQUAL(call.arguments[2], gait_x86_64_rdx(&cpu));
    CHECK_EQUAL(call.arguments[3], gait_x86_64_r10(&cpu));
    CHECK_EQUAL(call.arguments[4], gait_x86_64_r8(&cpu));
    CHECK_EQUAL(call.arguments[5], gait_x86_64_r9(&cpu));
}

/* As the kernel does it: the result in rax, the next instruction in rcx, the flags in r11, all else as it was. */
static void behind_a_system_call_registers_are_as_the_kernel_leaves_them(void)
{
    struct gait_cpu_context expected;

    fill();
    expected = cpu;
    gait_x86_64_rax(&expected) = (uint64_t)-22;
    gait_x86_64_rcx(&expected) = 0x5002;
    gait_x86_64_r11(&expected) = 0x246;
    expected.pc = 0x5002;
    x86_registers.system_call_done(&cpu, -22);
    CHECK(memcmp(&cpu, &expected, sizeof(cpu)) == 0);
}

static void a_call_has_its_return_address_on_the_stack(void)
{
    uint64_t stack[4] = {0xabc, 1, 2, 3};

    fill();
    gait_x86_64_rsp(&cpu) = (uintptr_t)stack;
    CHECK_EQUAL(gait_cpu_return_address(&cpu), 0xabc);
    CHECK_EQUAL(gait_cpu_link_register(&cpu), 0);
}

static void arguments_and_results_are_in_registers(void)
{
    const struct gait_cpu_context called = {.registers = {[GAIT_X86_64_RDI] = 1,
                                                          [GAIT_X86_64_RSI] = 2,
                                                          [GAIT_X86_64_RDX] = 3,
                                                          [GAIT_X86_64_RCX] = 4,
                                                          [GAIT_X86_64_R8] = 5,
                                                          [GAIT_X86_64_R9] = 6,
                                                          [GAIT_X86_64_RAX] = 7}};
    for (unsigned i = 0; i < 6; i++)
        CHECK_EQUAL(gait_cpu_argument(&called, i), i + 1);
    CHECK_EQUAL(gait_cpu_result(&called), 7);
}

static const struct check_case cases[] = {
    CHECK_CASE(arguments_and_results_are_in_registers),
    CHECK_CASE(a_system_call_has_its_number_and_arguments_in_registers),
    CHECK_CASE(behind_a_system_call_registers_are_as_the_kernel_leaves_them),
    CHECK_CASE(a_call_has_its_return_address_on_the_stack),
};

CHECK_MAIN(cases)
