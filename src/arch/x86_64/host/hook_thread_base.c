/* SPDX-License-Identifier: MIT */
/* The gs base points to a thread's state, and the fs base is the thread pointer. */
#include "arch/host_cpu.h"
#include "arch/x86_64/host/gate_layout.h"
#include "arch/x86_64/isa/registers.h"
#include "base/raw_syscall.h"
#include "hook/hook_gate.h"
#include "hook/hook_thread.h"

#include <asm/prctl.h>
#include <asm/unistd.h>
#include <stddef.h>

_Static_assert(offsetof(struct gait_cpu_context, registers[X86_RSP]) == CONTEXT_RSP, "as the gates have it");
_Static_assert(offsetof(struct hook_gate_frame, saved.registers[X86_RSP]) == HOOK_FRAME_RSP, "as the gates have it");
_Static_assert(offsetof(struct hook_gate_frame, saved.pc) == HOOK_FRAME_PC, "as the gates have it");
_Static_assert(offsetof(struct hook_gate_frame, saved.flags) == HOOK_FRAME_FLAGS, "as the gates have it");
_Static_assert(offsetof(struct hook_gate_frame, stub) == HOOK_FRAME_BYTES, "as the gates have it");

static uint64_t base_from_kernel(long which)
{
    uint64_t base = 0;

    (void)raw_syscall(__NR_arch_prctl, which, (long)&base, 0, 0, 0, 0);
    return base;
}

uint64_t hook_thread_base_get(void)
{
    uint64_t base;

    if (!host_cpu_has_base_insns())
        return base_from_kernel(ARCH_GET_GS);
    __asm__ volatile("rdgsbase %0" : "=r"(base));
    return base;
}

void hook_thread_base_set(uint64_t base)
{
    __asm__ volatile("wrgsbase %0" : : "r"(base));
}

bool hook_thread_base_is_asked(long number, long argument)
{
    return number == __NR_arch_prctl && argument == ARCH_GET_GS;
}

uint64_t hook_thread_pointer(void)
{
    uint64_t base;

    if (!host_cpu_has_base_insns())
        return base_from_kernel(ARCH_GET_FS);
    __asm__ volatile("rdfsbase %0" : "=r"(base));
    return base;
}
