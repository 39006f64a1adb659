/* SPDX-License-Identifier: MIT */
/* Stacks are made up: calls of functions at their first instruction, whose frames are a return address and no more. */
#define _GNU_SOURCE
#include "kernel/stack_unwinder.h"

#include "arch/arch.h"
#include "arch/perf_registers.h"
#include "support/check.h"

#include <stdlib.h>
#include <unistd.h>

#define SP 0x7fff0000u

static struct stack_unwinder *unwinder;
static uint64_t registers[64], words[64];
static struct copied_stack stack;

static void set_register(unsigned perf_number, uint64_t value)
{
    registers[__builtin_popcountll(stack_unwinder_mask() & ((1ull << perf_number) - 1))] = value;
}

static unsigned number_of(unsigned frame_number)
{
    const struct perf_registers *known = perf_registers_host();

    for (size_t i = 0; i < known->count; i++)
        if (arch_host()->frame_registers.general[i] == frame_number)
            return known->all[i].perf_number;
    return 0;
}

static void begin(uint64_t pc, uint64_t fp)
{
    if (stack_unwinder_mask() == 0)
        check_skip("stacks of this CPU cannot be undone yet");
    CHECK_EQUAL(stack_unwinder_create(&unwinder), 0);
    for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
        registers[i] = words[i] = 0;
    set_register(perf_registers_host()->pc_number, pc);
    set_register(number_of(arch_host()->frame_registers.stack_pointer), SP);
    set_register(number_of(arch_host()->frame_registers.frame_pointer), fp);
    stack = (struct copied_stack){registers, (size_t)__builtin_popcountll(stack_unwinder_mask()),
                                  (const uint8_t *)words, sizeof(words)};
}

static void tables_of_files_lead_through_frames(void)
{
    uint64_t first = (uint64_t)(uintptr_t)&getpid, second = (uint64_t)(uintptr_t)&getppid;

    begin(first, 0x1234);
    words[0] = second + 1;
    words[1] = first + 1;
    CHECK_EQUAL(stack_unwinder_walk(unwinder, (uint32_t)getpid(), &stack), 3);
    CHECK_EQUAL(unwinder->pcs[0], first);
    CHECK_EQUAL(unwinder->pcs[1], second + 1);
    CHECK_EQUAL(unwinder->pcs[2], first + 1);
    CHECK_EQUAL(unwinder->cut_count, 0);
    /* Nothing but the first return address was copied. */
    stack.size_bytes = sizeof(words[0]);
    CHECK_EQUAL(stack_unwinder_walk(unwinder, (uint32_t)getpid(), &stack), 2);
    CHECK_EQUAL(unwinder->cut_count, 1);
    stack_unwinder_destroy(unwinder);
}

static void code_that_nobody_describes_has_frame_pointers(void)
{
    begin(0x5000, SP + 16);
    words[2] = SP + 48;
    words[3] = 0x6000;
    words[6] = 0;
    words[7] = 0;
    CHECK_EQUAL(stack_unwinder_walk(unwinder, 0x7ffffffe, &stack), 2);
    CHECK_EQUAL(unwinder->pcs[0], 0x5000);
    CHECK_EQUAL(unwinder->pcs[1], 0x6000);
    /* No frame pointer, no caller. */
    words[2] = 0;
    unwinder->cut_count = 0;
    CHECK_EQUAL(stack_unwinder_walk(unwinder, 0x7ffffffe, &stack), 2);
    CHECK_EQUAL(unwinder->cut_count, 0);
    /* A frame pointer that leads down, or out of the copy, leads nowhere. */
    words[2] = SP;
    CHECK_EQUAL(stack_unwinder_walk(unwinder, 0x7ffffffe, &stack), 2);
    CHECK_EQUAL(unwinder->cut_count, 1);
    stack_unwinder_destroy(unwinder);
}

static void threads_of_the_kernel_have_no_stack(void)
{
    begin(0x5000, 0);
    stack.register_count = 0;
    CHECK_EQUAL(stack_unwinder_walk(unwinder, 0, &stack), 0);
    stack_unwinder_destroy(unwinder);
}

static const struct check_case cases[] = {
    CHECK_CASE(tables_of_files_lead_through_frames),
    CHECK_CASE(code_that_nobody_describes_has_frame_pointers),
    CHECK_CASE(threads_of_the_kernel_have_no_stack),
};

CHECK_MAIN(cases)
