/* SPDX-License-Identifier: MIT */
/* The gs base points to a thread's state, and the fs base is the thread pointer. */
#include "arch/host_cpu.h"
#include "base/raw_syscall.h"
#include "hook/hook_gate.h"
#include "hook/hook_thread.h"
#include "hook/hook_unwinders.h"

#include <asm/prctl.h>
#include <asm/unistd.h>

bool hook_gate_is_supported(void)
{
    return true;
}

static uint64_t base_from_kernel(long which)
{
    uint64_t base = 0;

    (void)raw_syscall(__NR_arch_prctl, which, (long)&base, 0, 0, 0, 0);
    return base;
}

uint64_t hook_segment_get(void)
{
    uint64_t base;

    if (!host_cpu_has_base_insns())
        return base_from_kernel(ARCH_GET_GS);
    __asm__ volatile("rdgsbase %0" : "=r"(base));
    return base;
}

void hook_segment_set(uint64_t base)
{
    __asm__ volatile("wrgsbase %0" : : "r"(base));
}

bool hook_segment_is_asked(long number, long argument)
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

uint64_t *hook_argument_place(struct gait_cpu_context *cpu, unsigned number)
{
    const struct gait_invocation invocation = {.cpu = cpu};

    return gait_invocation_argument_place(&invocation, number);
}

uint64_t hook_stack_pointer(const struct gait_cpu_context *cpu)
{
    return cpu->rsp;
}
