/* SPDX-License-Identifier: MIT */
/* Which registers system calls have their parts in, and where a tracer finds those of a thread. Stateless. */
#include "arch/x86_64/x86_engine.h"

#include "arch/thread_registers.h"
#include "arch/x86_64/stalker/interrupt_call.h"
#include "arch/x86_64/isa/user_registers.h"
#include "gait/x86_64.h"
#include "stalker/system_call.h"

#include <linux/audit.h>

#define SYSCALL_BYTES 2

static void system_call_get(const struct gait_cpu_context *cpu, struct system_call *call_out)
{
    *call_out = (struct system_call){
        .number = (long)gait_x86_64_rax(cpu),
        .arguments = {(long)gait_x86_64_rdi(cpu), (long)gait_x86_64_rsi(cpu), (long)gait_x86_64_rdx(cpu),
                      (long)gait_x86_64_r10(cpu), (long)gait_x86_64_r8(cpu), (long)gait_x86_64_r9(cpu)},
    };
}

static struct app_pc system_call_next(const struct gait_cpu_context *cpu)
{
    return app_pc_of(cpu->pc + SYSCALL_BYTES);
}

static void system_call_done(struct gait_cpu_context *cpu, long result)
{
    cpu->pc += SYSCALL_BYTES;
    gait_x86_64_rax(cpu) = (uint64_t)result;
    gait_x86_64_rcx(cpu) = cpu->pc;
    gait_x86_64_r11(cpu) = cpu->flags;
}

static long system_call_result(const struct gait_cpu_context *cpu)
{
    return (long)gait_x86_64_rax(cpu);
}

static struct app_pc system_call_behind(const struct gait_cpu_context *cpu)
{
    return app_pc_of(gait_x86_64_rcx(cpu));
}

/* In the order of a context. */
#define X86_EACH_REGISTER(DO)                                                                                          \
    DO(rax)                                                                                                            \
    DO(rcx)                                                                                                            \
    DO(rdx) DO(rbx) DO(rsp) DO(rbp) DO(rsi) DO(rdi) DO(r8) DO(r9) DO(r10) DO(r11) DO(r12) DO(r13) DO(r14) DO(r15)

static void registers_get(const struct thread_registers *registers, struct gait_cpu_context *cpu_out,
                          uint64_t *thread_base_out)
{
    const struct x86_user_registers *user = x86_user_registers_const(registers);

#define GET(name) gait_x86_64_##name(cpu_out) = user->name;
    X86_EACH_REGISTER(GET)
#undef GET
    cpu_out->pc = user->rip;
    cpu_out->flags = user->eflags;
    *thread_base_out = user->gs_base;
}

static void registers_set(struct thread_registers *registers, const struct gait_cpu_context *cpu, uint64_t thread_base)
{
    struct x86_user_registers *user = x86_user_registers(registers);

#define SET(name) user->name = gait_x86_64_##name(cpu);
    X86_EACH_REGISTER(SET)
#undef SET
    user->rip = cpu->pc;
    user->eflags = cpu->flags;
    user->gs_base = thread_base;
}

const struct engine_registers x86_registers = {
    .call_slot_bytes = 8,
    .foreign_call_get = x86_interrupt_call_get,
    .foreign_call_keep = x86_interrupt_call_keep,
    .architecture = AUDIT_ARCH_X86_64,
    .foreign_architecture = AUDIT_ARCH_I386,
    .system_call_next = system_call_next,
    .system_call_get = system_call_get,
    .system_call_done = system_call_done,
    .system_call_result = system_call_result,
    .system_call_behind = system_call_behind,
    .get = registers_get,
    .set = registers_set,
};
