/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/stalker/thread_registers.h"

#include "gait/stalker.h"
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
    x86_system_call_get(&cpu, &call);
    CHECK_EQUAL(call.number, cpu.rax);
    CHECK_EQUAL(call.arguments[0], cpu.rdi);
    CHECK_EQUAL(call.arguments[1], cpu.rsi);
    CHECK_EQUAL(call.arguments[2], cpu.rdx);
    CHECK_EQUAL(call.arguments[3], cpu.r10);
    CHECK_EQUAL(call.arguments[4], cpu.r8);
    CHECK_EQUAL(call.arguments[5], cpu.r9);
}

/* As the kernel does it: the result in rax, the next instruction in rcx, the flags in r11, all else as it was. */
static void behind_a_system_call_registers_are_as_the_kernel_leaves_them(void)
{
    struct gait_cpu_context expected;

    fill();
    expected = cpu;
    expected.rax = (uint64_t)-22;
    expected.rcx = 0x5002;
    expected.r11 = 0x246;
    expected.pc = 0x5002;
    x86_system_call_done(&cpu, -22);
    CHECK(memcmp(&cpu, &expected, sizeof(cpu)) == 0);
}

static void a_call_has_its_return_address_on_the_stack(void)
{
    uint64_t stack[4] = {0xabc, 1, 2, 3};
    struct gait_call call = {.target = 0x5000};

    fill();
    cpu.rsp = (uintptr_t)stack;
    x86_call_get(&cpu, &call);
    CHECK_EQUAL(call.return_address, 0xabc);
    CHECK(call.stack == stack);
    CHECK_EQUAL(call.target, 0x5000);
}

static void arguments_and_results_are_in_registers(void)
{
    const struct gait_cpu_context called = {.rdi = 1, .rsi = 2, .rdx = 3, .rcx = 4, .r8 = 5, .r9 = 6, .rax = 7};
    uint64_t arguments[6];

    x86_call_arguments(&called, arguments);
    for (uint64_t i = 0; i < 6; i++)
        CHECK_EQUAL(arguments[i], i + 1);
    CHECK_EQUAL(x86_call_value(&called), 7);
}

static const struct check_case cases[] = {
    CHECK_CASE(arguments_and_results_are_in_registers),
    CHECK_CASE(a_system_call_has_its_number_and_arguments_in_registers),
    CHECK_CASE(behind_a_system_call_registers_are_as_the_kernel_leaves_them),
    CHECK_CASE(a_call_has_its_return_address_on_the_stack),
};

CHECK_MAIN(cases)
