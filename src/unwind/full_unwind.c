/* SPDX-License-Identifier: MIT */
#include "unwind/full_unwind.h"

#include "arch/arch.h"

#include <asm/errno.h>

struct row_search {
    uint64_t pc;
    struct frame_row *row;
    bool is_found;
};

static bool take_row(void *context, const struct frame_row *row)
{
    struct row_search *search = context;

    if (search->pc < row->start || search->pc >= row->end)
        return false;
    *search->row = *row;
    search->is_found = true;
    return true;
}

static int evaluate(struct byte_range expression, const struct unwind_registers *registers,
                    const struct unwind_memory *memory, const uint64_t *frame, uint64_t *value_out)
{
    const struct frame_machine machine = {
        .registers = registers->values,
        .known_registers = registers->known,
        .read = memory->read,
        .context = memory->context,
    };

    return frame_expression_evaluate(expression, &machine, frame, value_out);
}

static int find_frame(const struct frame_rule *rule, const struct unwind_registers *registers,
                      const struct unwind_memory *memory, uint64_t *frame_out)
{
    if (rule->kind == FRAME_IS_EXPRESSION)
        return evaluate(rule->expression, registers, memory, NULL, frame_out);
    if (rule->kind != FRAME_IN_REGISTER)
        return -EPROTO;
    if (!unwind_registers_know(registers, rule->other_register))
        return -ENODATA;
    *frame_out = registers->values[rule->other_register] + (uint64_t)rule->offset;
    return 0;
}

/* What a register was in the caller. 1: it is not known there. */
static int restore(const struct frame_rule *rule, uint32_t which, const struct unwind_registers *registers,
                   const struct unwind_memory *memory, uint64_t frame, uint64_t *value_out)
{
    uint64_t address = frame + (uint64_t)rule->offset;
    uint32_t source = rule->kind == FRAME_IN_REGISTER ? rule->other_register : which;
    int result = 0;

    switch (rule->kind) {
    case FRAME_UNDEFINED:
        return 1;
    case FRAME_SAME:
    case FRAME_IN_REGISTER:
        *value_out = registers->values[source];
        return unwind_registers_know(registers, source) ? 0 : 1;
    case FRAME_IS_OFFSET:
        *value_out = address;
        return 0;
    case FRAME_IS_EXPRESSION:
        return evaluate(rule->expression, registers, memory, &frame, value_out);
    case FRAME_AT_EXPRESSION:
        result = evaluate(rule->expression, registers, memory, &frame, &address);
        break;
    case FRAME_AT_OFFSET:
        break;
    }
    if (result != 0)
        return result;
    return memory->read(memory->context, address, value_out, sizeof(*value_out)) ? 0 : -EFAULT;
}

int full_unwind_step(const struct full_unwind *unwind, const struct eh_frame_entry *entry, uint64_t lookup_pc,
                     struct unwind_registers *registers)
{
    const struct arch_frame_registers *numbers = unwind->numbers;
    const struct frame_row *row = &unwind->storage->row;
    struct row_search search = {lookup_pc, &unwind->storage->row, false};
    struct unwind_registers caller;
    uint64_t frame, value;
    int result;

    /* A row that was found is good, whatever comes behind it. */
    (void)!frame_rows_visit(entry, &unwind->storage->rows, take_row, &search);
    if (!search.is_found)
        return -EPROTO;
    if (row->registers[numbers->return_address].kind == FRAME_UNDEFINED)
        return 0;
    result = find_frame(&row->frame, registers, &unwind->memory, &frame);
    if (result != 0)
        return result;
    caller.known = 0;
    /* Unless something else is said, the stack pointer of the caller is the frame. */
    unwind_registers_set(&caller, numbers->stack_pointer, frame);
    for (uint32_t i = 0; result == 0 && i < FRAME_REGISTERS; i++) {
        const struct frame_rule *rule = &row->registers[i];

        if (i == numbers->stack_pointer && rule->kind == FRAME_SAME)
            continue;
        result = restore(rule, i, registers, &unwind->memory, frame, &value);
        if (result == 0)
            unwind_registers_set(&caller, i, value);
        else if (result == 1 || i != numbers->return_address)
            result = 0;
    }
    if (result != 0)
        return result;
    if (!unwind_registers_know(&caller, numbers->return_address))
        return -ENODATA;
    *registers = caller;
    return 1;
}
