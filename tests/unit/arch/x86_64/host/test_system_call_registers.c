/* SPDX-License-Identifier: MIT */
#include "arch/system_call_registers.h"

#include "arch/x86_64/isa/user_registers.h"
#include "support/check.h"

static void the_registers_are_those_of_the_kernel(void)
{
    static const long arguments[6] = {1, 2, 3, 4, 5, 6};
    struct thread_registers registers = {0};
    const struct x86_user_registers *user = x86_user_registers_const(&registers);

    system_call_registers_set(&registers, 0x1234, 77, arguments);
    CHECK_EQUAL(user->rip, 0x1234);
    CHECK_EQUAL(user->rax, 77);
    CHECK_EQUAL(user->orig_rax, UINT64_MAX);
    CHECK(user->rdi == 1 && user->rsi == 2 && user->rdx == 3 && user->r10 == 4 && user->r8 == 5 && user->r9 == 6);
    x86_user_registers(&registers)->rax = (uint64_t)-14;
    CHECK_EQUAL(system_call_registers_result(&registers), -14);
}

static void the_instruction_is_syscall(void)
{
    size_t size;
    const uint8_t *bytes = system_call_instruction(&size);

    CHECK_EQUAL(size, 2);
    CHECK(memcmp(bytes, "\x0f\x05", 2) == 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_registers_are_those_of_the_kernel),
    CHECK_CASE(the_instruction_is_syscall),
};

CHECK_MAIN(cases)
