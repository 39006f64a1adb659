/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "gait/x86_64.h"
#include "hook/hook_gate.h"
#include "hook/hook_thread.h"
#include "hook/hook_unwinders.h"

#include "arch/host_cpu.h"
#include "support/check.h"

#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <asm/prctl.h>

static uint64_t ask_kernel(int which)
{
    uint64_t base = 1;

    CHECK_EQUAL(syscall(SYS_arch_prctl, which, &base), 0);
    return base;
}

static void bases_are_what_the_kernel_says(void)
{
    CHECK_EQUAL(hook_thread_base_get(), ask_kernel(ARCH_GET_GS));
    CHECK_EQUAL(hook_thread_pointer(), ask_kernel(ARCH_GET_FS));
    if (!host_cpu_has_base_insns())
        return;
    hook_thread_base_set(0x1234000);
    CHECK_EQUAL(ask_kernel(ARCH_GET_GS), 0x1234000);
    CHECK_EQUAL(hook_thread_base_get(), 0x1234000);
    hook_thread_base_set(0);
    CHECK_EQUAL(ask_kernel(ARCH_GET_GS), 0);
}

static void arguments_are_in_registers_and_on_the_stack(void)
{
    uint64_t stack[4] = {1, 2, 3, 4};
    struct gait_cpu_context cpu = {0};

    gait_x86_64_rdi(&cpu) = 10;
    gait_x86_64_rsi(&cpu) = 11;
    gait_x86_64_rdx(&cpu) = 12;
    gait_x86_64_rcx(&cpu) = 13;
    gait_x86_64_r8(&cpu) = 14;
    gait_x86_64_r9(&cpu) = 15;
    gait_x86_64_rsp(&cpu) = (uintptr_t)stack;
    for (unsigned i = 0; i < 6; i++)
        CHECK_EQUAL(*gait_cpu_argument_place(&cpu, i), 10 + i);
    CHECK_EQUAL(*gait_cpu_argument_place(&cpu, 6), 2);
    CHECK_EQUAL(*gait_cpu_argument_place(&cpu, 8), 4);
    CHECK_EQUAL(gait_cpu_stack_pointer(&cpu), (uintptr_t)stack);
}

#endif

static const struct check_case cases[] = {
#if defined(__x86_64__)
    CHECK_CASE(bases_are_what_the_kernel_says),
    CHECK_CASE(arguments_are_in_registers_and_on_the_stack),
#endif
};

int main(void)
{
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
