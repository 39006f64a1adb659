/* SPDX-License-Identifier: MIT */
/* The public face of src/unwind: where a walk begins, and what is done when it does not get through. */
#include "gait/stack.h"

#include "arch/arch.h"
#include "base/time_counter.h"
#include "gait/cpu_context.h"
#include "libgait/export.h"
#include "libgait/stack_modules.h"
#include "libgait/stack_thread.h"
#include "stalker/stalker_gate.h"

#include <errno.h>
#include <string.h>

#define FIRST_SIZE (offsetof(struct gait_stack, tid) + sizeof(int))

/*
 * With all registers, of this function at first, for frames that need more than the usual three: there are few. The
 * frames up to the one that goes on at `pc` are ours.
 */
static __attribute__((noinline)) int walk_fully(struct stack_thread *thread, uint64_t pc,
                                                struct stack_addresses *addresses)
{
    const struct arch *arch = arch_host();
    const struct arch_frame_registers *numbers = &arch->frame_registers;
    struct unwind_registers registers = {.known = 0};
    struct gait_cpu_context cpu;
    size_t ours = 0;
    int result;

    stalker_capture(&cpu);
    for (unsigned i = 0; i < arch->register_count; i++)
        unwind_registers_set(&registers, numbers->general[i], cpu.registers[i]);
    unwind_registers_set(&registers, numbers->return_address, cpu.pc);
    const struct stack_start start = {
        .pc = cpu.pc,
        .sp = registers.values[numbers->stack_pointer],
        .fp = registers.values[numbers->frame_pointer],
        .is_behind_call = true,
        .registers = &registers,
    };

    result = stack_walk(&stack_modules, &thread->walker, &start, addresses);
    while (ours < addresses->count && addresses->pcs[ours] != pc)
        ours++;
    if (result != 0 || ours == addresses->count)
        return -ENODATA;
    addresses->count -= ours;
    memmove(addresses->pcs, addresses->pcs + ours, addresses->count * sizeof(addresses->pcs[0]));
    return 0;
}

/* A stack that could not be walked as far as it should have been: what is left to try. */
static __attribute__((noinline)) void try_again(struct stack_thread *thread, const struct stack_start *start,
                                                int result, struct stack_addresses *addresses)
{
    if (thread->walker.unknown_pc != 0 && stack_thread_found_unknown(thread))
        result = stack_walk(&stack_modules, &thread->walker, start, addresses);
    thread->walker.unknown_pc = 0;
    if (result == -ENODATA && walk_fully(thread, start->pc, addresses) != 0)
        /* As far as it goes. */
        (void)!stack_walk(&stack_modules, &thread->walker, start, addresses);
}

EXPORT int gait_stack_capture(struct gait_stack *stack)
{
    struct stack_thread *thread = stack_thread_current;
    /* The caller's frame pointer, and where it goes on; its frame is above. */
    const uint64_t *frame = __builtin_frame_address(0);
    const struct stack_start start = {frame[1], (uintptr_t)(frame + 2), frame[0], true, NULL};
    struct stack_addresses addresses;
    int result;

    if (stack == NULL || stack->size_bytes < FIRST_SIZE || stack->pcs == NULL || stack->capacity == 0)
        return -EINVAL;
    if (__builtin_expect(thread < STACK_THREAD_STATES, 0)) {
        result = stack_thread_begin();
        if (result != 0)
            return result;
        thread = stack_thread_current;
    }
    stack->time = time_counter();
    stack->tid = thread->tid;
    addresses.pcs = stack->pcs;
    addresses.capacity = stack->capacity;
    result = stack_walk(&stack_modules, &thread->walker, &start, &addresses);
    if (__builtin_expect(result != 0 || thread->walker.unknown_pc != 0, 0))
        try_again(thread, &start, result, &addresses);
    stack->count = addresses.count;
    return 0;
}

/* All registers are known, so nothing is left to try but modules that came since. */
EXPORT int gait_stack_capture_from(const struct gait_cpu_context *cpu, struct gait_stack *stack)
{
    const struct arch *arch = arch_host();
    struct unwind_registers registers = {.known = 0};
    struct stack_addresses addresses;
    int result;

    if (cpu == NULL || stack == NULL || stack->size_bytes < FIRST_SIZE || stack->pcs == NULL || stack->capacity == 0)
        return -EINVAL;
    result = stack_thread_begin();
    if (result != 0)
        return result;
    for (unsigned i = 0; i < arch->register_count; i++)
        unwind_registers_set(&registers, arch->frame_registers.general[i], cpu->registers[i]);
    unwind_registers_set(&registers, arch->frame_registers.return_address, cpu->pc);
    const struct stack_start start = {
        .pc = cpu->pc,
        .sp = registers.values[arch->frame_registers.stack_pointer],
        .fp = registers.values[arch->frame_registers.frame_pointer],
        .is_behind_call = false,
        .registers = &registers,
    };

    stack->time = time_counter();
    stack->tid = stack_thread_current->tid;
    addresses.pcs = stack->pcs;
    addresses.capacity = stack->capacity;
    result = stack_walk(&stack_modules, &stack_thread_current->walker, &start, &addresses);
    if (stack_thread_current->walker.unknown_pc != 0 && stack_thread_found_unknown(stack_thread_current))
        result = stack_walk(&stack_modules, &stack_thread_current->walker, &start, &addresses);
    stack_thread_current->walker.unknown_pc = 0;
    /* As far as it goes. */
    (void)result;
    stack->count = addresses.count;
    return 0;
}

EXPORT int gait_stack_watch_modules(struct gait_error *err)
{
    return stack_modules_watch(err);
}

EXPORT int gait_stack_prepare(void)
{
    return stack_thread_begin();
}

EXPORT int gait_stack_modules_changed(void)
{
    return stack_thread_refresh();
}
