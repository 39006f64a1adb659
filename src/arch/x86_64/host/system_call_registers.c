/* SPDX-License-Identifier: MIT */
#include "arch/system_call_registers.h"

#include "arch/x86_64/isa/user_registers.h"

const uint8_t *system_call_instruction(size_t *size_out)
{
    static const uint8_t bytes[] = {0x0f, 0x05};

    *size_out = sizeof(bytes);
    return bytes;
}

void system_call_registers_set(struct thread_registers *registers, uint64_t place, long number, const long *arguments)
{
    struct x86_user_registers *user = x86_user_registers(registers);

    user->rip = place;
    user->orig_rax = UINT64_MAX;
    user->rax = (uint64_t)number;
    user->rdi = (uint64_t)arguments[0];
    user->rsi = (uint64_t)arguments[1];
    user->rdx = (uint64_t)arguments[2];
    user->r10 = (uint64_t)arguments[3];
    user->r8 = (uint64_t)arguments[4];
    user->r9 = (uint64_t)arguments[5];
}

long system_call_registers_result(const struct thread_registers *registers)
{
    return (long)x86_user_registers_const(registers)->rax;
}
