/* SPDX-License-Identifier: MIT */
/* Which registers system calls and calls have their parts in. Stateless. */
#include "arch/x86_64/stalker/thread_registers.h"

#include "gait/stalker.h"
#include "stalker/system_call.h"

#define SYSCALL_BYTES 2

void x86_system_call_get(const struct gait_cpu_context *cpu, struct system_call *call_out)
{
    *call_out = (struct system_call){
        .number = (long)cpu->rax,
        .arguments = {(long)cpu->rdi, (long)cpu->rsi, (long)cpu->rdx, (long)cpu->r10, (long)cpu->r8, (long)cpu->r9},
    };
}

void x86_system_call_done(struct gait_cpu_context *cpu, long result)
{
    cpu->pc += SYSCALL_BYTES;
    cpu->rax = (uint64_t)result;
    cpu->rcx = cpu->pc;
    cpu->r11 = cpu->flags;
}

void x86_call_get(struct gait_cpu_context *cpu, struct gait_call *call_out)
{
    call_out->stack = (uint64_t *)(uintptr_t)cpu->rsp;
    call_out->return_address = call_out->stack[0];
}
