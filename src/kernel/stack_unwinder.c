/* SPDX-License-Identifier: MIT */
/*
 * Most stacks need the stack pointer and the frame pointer only, by the rules of unwind_rule.h. Where a frame needs
 * another register, the stack is gone through again with all of them. A word that was not copied ends the walk.
 */
#include "kernel/stack_unwinder.h"

#include "arch/arch.h"
#include "arch/perf_registers.h"
#include "unwind/unwind_rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_BITS 47

enum copied_step {
    STEP_DONE,
    STEP_OUTERMOST, /* there is no caller */
    STEP_LOST,      /* there is one, and no way to it */
    STEP_NEEDS_ALL, /* registers that rules do not follow */
};

struct copied_walk {
    struct stack_unwinder *unwinder;
    const struct mapped_process *process; /* NULL: nothing is known of it */
    const struct copied_stack *stack;
    const struct arch_frame_registers *numbers;
    uint64_t base; /* where the copy was */
    struct unwind_registers registers;
    bool is_exact; /* the pc is that of an instruction, not behind a call */
    bool is_full;  /* all registers are followed */
};

/* ---- registers --------------------------------------------------------------------------------------------------- */

uint64_t stack_unwinder_mask(void)
{
    const struct perf_registers *registers = perf_registers_host();
    const struct arch *arch = arch_host();
    uint64_t mask = 1ull << registers->pc_number;

    if (arch == NULL || arch->frame_registers.general == NULL)
        return 0;
    for (size_t i = 0; i < registers->count; i++)
        mask |= 1ull << registers->all[i].perf_number;
    return mask;
}

static uint64_t register_at(const struct copied_stack *stack, uint64_t mask, unsigned perf_number)
{
    return stack->registers[__builtin_popcountll(mask & ((1ull << perf_number) - 1))];
}

static void set_registers(struct copied_walk *walk)
{
    const struct perf_registers *registers = perf_registers_host();
    uint64_t mask = stack_unwinder_mask();

    walk->registers.known = 0;
    for (size_t i = 0; i < registers->count; i++)
        unwind_registers_set(&walk->registers, walk->numbers->general[i],
                             register_at(walk->stack, mask, registers->all[i].perf_number));
    unwind_registers_set(&walk->registers, walk->numbers->return_address,
                         register_at(walk->stack, mask, registers->pc_number));
    walk->base = walk->registers.values[walk->numbers->stack_pointer];
    walk->is_exact = true;
}

static uint64_t *pc_of(struct copied_walk *walk)
{
    return &walk->registers.values[walk->numbers->return_address];
}

/* ---- one frame --------------------------------------------------------------------------------------------------- */

static bool read_copy(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    const struct copied_walk *walk = context;
    uint64_t within = address - walk->base;

    if (within >= walk->stack->size_bytes || size_bytes > walk->stack->size_bytes - within)
        return false;
    memcpy(bytes_out, walk->stack->bytes + within, size_bytes);
    return true;
}

/* The rules for the present frame. NULL: nobody describes the code. */
static const struct unwind_table *find_table(struct copied_walk *walk, uint64_t address, uint64_t *place_out)
{
    /* What is mapped now: news come in the order of time. */
    const struct recorded_module *module =
        walk->process == NULL ? NULL : modules_find(&walk->process->modules, address, 0, UINT64_MAX - 1);
    const struct file_frames *frames =
        module == NULL ? NULL : known_frames_find(&walk->unwinder->frames, walk->process->pid, module);

    return frames == NULL || file_frames_place(frames, module, address, place_out) != 0 ? NULL
                                                                                        : file_frames_table(frames);
}

/* By a rule of kind UNWIND_SP or UNWIND_FP: of the registers, those two are known afterwards. */
static enum copied_step step_simply(struct copied_walk *walk, uint32_t rule)
{
    uint64_t *sp = &walk->registers.values[walk->numbers->stack_pointer];
    uint64_t *fp = &walk->registers.values[walk->numbers->frame_pointer], pointer = *fp;
    uint64_t frame = (unwind_rule_kind(rule) == UNWIND_SP ? *sp : *fp) + unwind_rule_frame_bytes(rule);
    uint64_t pointer_bytes = unwind_rule_pointer_bytes(rule), pc;

    /* What is below the stack pointer was taken from there: at the end of a function the register has it again. */
    bool is_saved = pointer_bytes != 0 && frame - pointer_bytes >= *sp;

    if (frame <= *sp || !read_copy(walk, frame - UNWIND_WORD, &pc, sizeof(pc)) ||
        (is_saved && !read_copy(walk, frame - pointer_bytes, &pointer, sizeof(pointer))))
        return STEP_LOST;
    *pc_of(walk) = pc;
    *sp = frame;
    *fp = pointer;
    walk->is_exact = false;
    return STEP_DONE;
}

static enum copied_step step_fully(struct copied_walk *walk, const struct unwind_table *table, uint64_t place)
{
    const struct full_unwind unwind = {walk->numbers, {read_copy, walk}, &walk->unwinder->storage};
    struct eh_frame_entry entry;
    int result;

    if (!unwind_table_entry(table, place, &entry))
        return STEP_LOST;
    /* Rules of stubs count with the pc: in the file it is as far into its line as in memory. */
    result = full_unwind_step(&unwind, &entry, place, &walk->registers);
    if (result == 0)
        return STEP_OUTERMOST;
    if (result != 1)
        return walk->is_full ? STEP_LOST : STEP_NEEDS_ALL;
    walk->is_exact = entry.is_signal_frame;
    return STEP_DONE;
}

static enum copied_step step(struct copied_walk *walk)
{
    uint64_t address = *pc_of(walk) - (walk->is_exact ? 0 : 1), place = 0;
    const struct unwind_table *table = find_table(walk, address, &place);
    uint32_t rule = table == NULL ? 0 : unwind_table_find(table, place);

    switch (unwind_rule_kind(rule)) {
    case UNWIND_UNKNOWN:
        /* Code that nobody describes often keeps its frame pointer all the same: none at the outermost frame. */
        if (walk->registers.values[walk->numbers->frame_pointer] == 0)
            return STEP_OUTERMOST;
        return step_simply(walk, unwind_rule(UNWIND_FP, 2, 2));
    case UNWIND_END:
        return STEP_OUTERMOST;
    case UNWIND_FULL:
        /* Rules have lost the others on the way. */
        return walk->is_full || walk->is_exact ? step_fully(walk, table, place) : STEP_NEEDS_ALL;
    default:
        return walk->is_full ? step_fully(walk, table, place) : step_simply(walk, rule);
    }
}

/* ---- all frames -------------------------------------------------------------------------------------------------- */

static size_t walk_once(struct copied_walk *walk, enum copied_step *result_out)
{
    uint64_t *pcs = walk->unwinder->pcs;
    size_t count = 0;

    set_registers(walk);
    do {
        pcs[count++] = *pc_of(walk);
        *result_out = count == KERNEL_FRAMES_MAX ? STEP_LOST : step(walk);
        if (*result_out == STEP_DONE && (*pc_of(walk) - 1) >> ADDRESS_BITS != 0)
            *result_out = STEP_OUTERMOST;
    } while (*result_out == STEP_DONE);
    return count;
}

size_t stack_unwinder_walk(struct stack_unwinder *unwinder, uint32_t pid, const struct copied_stack *stack)
{
    struct copied_walk walk = {
        .unwinder = unwinder, .stack = stack, .numbers = &arch_host()->frame_registers, .is_full = false};
    enum copied_step result;
    size_t count;

    /* A thread of the kernel has none of either. */
    if (stack->register_count != (size_t)__builtin_popcountll(stack_unwinder_mask()))
        return 0;
    walk.process = mapped_files_look(&unwinder->files, pid);
    count = walk_once(&walk, &result);
    if (result == STEP_NEEDS_ALL) {
        walk.is_full = true;
        count = walk_once(&walk, &result);
    }
    unwinder->cut_count += result == STEP_LOST;
    return count;
}

/* ---- from begin to end ------------------------------------------------------------------------------------------- */

int stack_unwinder_create(struct stack_unwinder **unwinder_out)
{
    struct stack_unwinder *unwinder = calloc(1, sizeof(*unwinder));
    int result;

    if (unwinder == NULL)
        return -ENOMEM;
    result = mapped_files_init(&unwinder->files);
    if (result == 0) {
        result = known_frames_init(&unwinder->frames);
        if (result != 0)
            mapped_files_deinit(&unwinder->files);
    }
    if (result != 0)
        free(unwinder);
    else
        *unwinder_out = unwinder;
    return result;
}

void stack_unwinder_destroy(struct stack_unwinder *unwinder)
{
    if (unwinder == NULL)
        return;
    known_frames_deinit(&unwinder->frames);
    mapped_files_deinit(&unwinder->files);
    free(unwinder);
}
