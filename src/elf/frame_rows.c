/* SPDX-License-Identifier: MIT */
/* Runs the small programs of entries: they change rules, and step on by addresses. */
#include "elf/frame_rows.h"

#include "elf/byte_cursor.h"

#include <asm/errno.h>

/* DW_CFA_*: the upper two bits are an instruction with an operand in the lower six, or all eight are one. */
enum instruction {
    ADVANCE = 0x40,
    OFFSET = 0x80,
    RESTORE = 0xc0,
    NOTHING = 0x00,
    ADVANCE_1 = 0x02,
    ADVANCE_2 = 0x03,
    ADVANCE_4 = 0x04,
    OFFSET_EXTENDED = 0x05,
    RESTORE_EXTENDED = 0x06,
    UNDEFINED = 0x07,
    SAME_VALUE = 0x08,
    IN_REGISTER = 0x09,
    REMEMBER = 0x0a,
    RECALL = 0x0b,
    FRAME_IS = 0x0c,
    FRAME_REGISTER_IS = 0x0d,
    FRAME_OFFSET_IS = 0x0e,
    FRAME_EXPRESSION_IS = 0x0f,
    EXPRESSION = 0x10,
    OFFSET_EXTENDED_SIGNED = 0x11,
    FRAME_IS_SIGNED = 0x12,
    FRAME_OFFSET_IS_SIGNED = 0x13,
    VALUE_OFFSET = 0x14,
    VALUE_OFFSET_SIGNED = 0x15,
    VALUE_EXPRESSION = 0x16,
    NEGATE_RETURN_STATE = 0x2d, /* whether the return address is signed, where CPUs do that */
    ARGUMENTS_SIZE = 0x2e,
    NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

struct row_machine {
    const struct eh_frame_entry *entry;
    struct byte_cursor cursor;
    struct frame_row *row; /* as it is at the moment */
    struct frame_rows_storage *storage;
    unsigned remembered_count;
    uint64_t location; /* of the row that is made */
    bool (*take)(void *context, const struct frame_row *row);
    void *context;
    bool is_done;
};

static void set(struct row_machine *machine, uint64_t which, enum frame_rule_kind kind, int64_t offset)
{
    if (which < FRAME_REGISTERS)
        machine->row->registers[which] = (struct frame_rule){.kind = kind, .offset = offset};
}

static void set_other(struct row_machine *machine, uint64_t which, uint64_t other)
{
    machine->cursor.is_bad |= other >= FRAME_REGISTERS;
    if (which < FRAME_REGISTERS)
        machine->row->registers[which] =
            (struct frame_rule){.kind = FRAME_IN_REGISTER, .other_register = (uint32_t)other};
}

static struct byte_range read_expression(struct byte_cursor *cursor)
{
    const uint8_t *start = byte_cursor_skip(cursor, byte_cursor_uleb(cursor));

    return (struct byte_range){start, cursor->at};
}

/* The row so far ends before the address. */
static void step_to(struct row_machine *machine, uint64_t address)
{
    if (address < machine->location) {
        machine->cursor.is_bad = true;
        return;
    }
    if (address > machine->entry->end)
        address = machine->entry->end;
    machine->row->start = machine->location;
    machine->row->end = address;
    if (address > machine->location && !machine->is_done)
        machine->is_done = machine->take(machine->context, machine->row);
    machine->location = address;
}

static void step_by(struct row_machine *machine, uint64_t units)
{
    step_to(machine, machine->location + units * machine->entry->code_alignment);
}

static int64_t scaled(const struct row_machine *machine, int64_t factor)
{
    return (int64_t)((uint64_t)factor * (uint64_t)machine->entry->data_alignment);
}

static void restore(struct row_machine *machine, uint64_t which)
{
    if (which < FRAME_REGISTERS)
        machine->row->registers[which] = machine->storage->initial.registers[which];
}

static void remember(struct row_machine *machine)
{
    if (machine->remembered_count == FRAME_ROWS_REMEMBERED_MAX)
        machine->cursor.is_bad = true;
    else
        machine->storage->remembered[machine->remembered_count++] = *machine->row;
}

static void recall(struct row_machine *machine)
{
    if (machine->remembered_count == 0)
        machine->cursor.is_bad = true;
    else
        *machine->row = machine->storage->remembered[--machine->remembered_count];
}

static void set_frame(struct row_machine *machine, uint64_t which, int64_t offset)
{
    machine->row->frame =
        (struct frame_rule){.kind = FRAME_IN_REGISTER, .other_register = (uint32_t)which, .offset = offset};
    machine->cursor.is_bad |= which >= FRAME_REGISTERS;
}

/* Changes of one part of the frame's rule need that it is one with a register. */
static void check_frame(struct row_machine *machine)
{
    machine->cursor.is_bad |= machine->row->frame.kind != FRAME_IN_REGISTER;
}

static void set_expression(struct row_machine *machine, uint64_t which, enum frame_rule_kind kind)
{
    struct byte_range expression = read_expression(&machine->cursor);

    if (which < FRAME_REGISTERS)
        machine->row->registers[which] = (struct frame_rule){.kind = kind, .expression = expression};
}

/* Of instructions that say where the frame is. False: it is none. */
static bool run_frame_instruction(struct row_machine *machine, unsigned instruction)
{
    struct byte_cursor *cursor = &machine->cursor;
    uint64_t which;

    switch (instruction) {
    case FRAME_IS:
        which = byte_cursor_uleb(cursor);
        set_frame(machine, which, (int64_t)byte_cursor_uleb(cursor));
        return true;
    case FRAME_IS_SIGNED:
        which = byte_cursor_uleb(cursor);
        set_frame(machine, which, scaled(machine, byte_cursor_sleb(cursor)));
        return true;
    case FRAME_REGISTER_IS:
        check_frame(machine);
        set_frame(machine, byte_cursor_uleb(cursor), machine->row->frame.offset);
        return true;
    case FRAME_OFFSET_IS:
        check_frame(machine);
        machine->row->frame.offset = (int64_t)byte_cursor_uleb(cursor);
        return true;
    case FRAME_OFFSET_IS_SIGNED:
        check_frame(machine);
        machine->row->frame.offset = scaled(machine, byte_cursor_sleb(cursor));
        return true;
    case FRAME_EXPRESSION_IS:
        machine->row->frame = (struct frame_rule){.kind = FRAME_IS_EXPRESSION, .expression = read_expression(cursor)};
        return true;
    default:
        return false;
    }
}

/* Of instructions that say where a register is, which all begin with it. */
static bool run_register_instruction(struct row_machine *machine, unsigned instruction)
{
    struct byte_cursor *cursor = &machine->cursor;
    const uint8_t *before = cursor->at;
    uint64_t which = byte_cursor_uleb(cursor);

    switch (instruction) {
    case OFFSET_EXTENDED:
        set(machine, which, FRAME_AT_OFFSET, scaled(machine, (int64_t)byte_cursor_uleb(cursor)));
        return true;
    case OFFSET_EXTENDED_SIGNED:
        set(machine, which, FRAME_AT_OFFSET, scaled(machine, byte_cursor_sleb(cursor)));
        return true;
    case NEGATIVE_OFFSET_EXTENDED:
        set(machine, which, FRAME_AT_OFFSET, scaled(machine, -(int64_t)byte_cursor_uleb(cursor)));
        return true;
    case VALUE_OFFSET:
        set(machine, which, FRAME_IS_OFFSET, scaled(machine, (int64_t)byte_cursor_uleb(cursor)));
        return true;
    case VALUE_OFFSET_SIGNED:
        set(machine, which, FRAME_IS_OFFSET, scaled(machine, byte_cursor_sleb(cursor)));
        return true;
    case RESTORE_EXTENDED:
        restore(machine, which);
        return true;
    case UNDEFINED:
        set(machine, which, FRAME_UNDEFINED, 0);
        return true;
    case SAME_VALUE:
        set(machine, which, FRAME_SAME, 0);
        return true;
    case IN_REGISTER:
        set_other(machine, which, byte_cursor_uleb(cursor));
        return true;
    case EXPRESSION:
        set_expression(machine, which, FRAME_AT_EXPRESSION);
        return true;
    case VALUE_EXPRESSION:
        set_expression(machine, which, FRAME_IS_EXPRESSION);
        return true;
    default:
        cursor->at = before;
        return false;
    }
}

static void run_other_instruction(struct row_machine *machine, unsigned instruction)
{
    struct byte_cursor *cursor = &machine->cursor;

    switch (instruction) {
    case NOTHING:
    case NEGATE_RETURN_STATE:
        return;
    case ADVANCE_1:
        step_by(machine, byte_cursor_number(cursor, 1));
        return;
    case ADVANCE_2:
        step_by(machine, byte_cursor_number(cursor, 2));
        return;
    case ADVANCE_4:
        step_by(machine, byte_cursor_number(cursor, 4));
        return;
    case REMEMBER:
        remember(machine);
        return;
    case RECALL:
        recall(machine);
        return;
    case ARGUMENTS_SIZE:
        (void)byte_cursor_uleb(cursor);
        return;
    default:
        if (!run_frame_instruction(machine, instruction) && !run_register_instruction(machine, instruction))
            cursor->is_bad = true;
    }
}

static void run_instruction(struct row_machine *machine)
{
    unsigned instruction = (unsigned)byte_cursor_number(&machine->cursor, 1);

    switch (instruction & 0xc0) {
    case ADVANCE:
        step_by(machine, instruction & 0x3f);
        return;
    case OFFSET:
        set(machine, instruction & 0x3f, FRAME_AT_OFFSET, scaled(machine, (int64_t)byte_cursor_uleb(&machine->cursor)));
        return;
    case RESTORE:
        restore(machine, instruction & 0x3f);
        return;
    default:
        run_other_instruction(machine, instruction);
    }
}

static bool run_program(struct row_machine *machine, struct byte_range program)
{
    machine->cursor = (struct byte_cursor){program.start, program.end, false};
    while (machine->cursor.at < machine->cursor.end && !machine->cursor.is_bad && !machine->is_done)
        run_instruction(machine);
    return !machine->cursor.is_bad;
}

int frame_rows_visit(const struct eh_frame_entry *entry, struct frame_rows_storage *storage,
                     bool (*take)(void *context, const struct frame_row *row), void *context)
{
    struct row_machine machine = {
        .entry = entry,
        .row = &storage->row,
        .storage = storage,
        .location = entry->start,
        .take = take,
        .context = context,
    };

    memset(&storage->row, 0, sizeof(storage->row));
    storage->row.frame.kind = FRAME_UNDEFINED;
    storage->initial = storage->row;
    if (!run_program(&machine, entry->common_program))
        return -EPROTO;
    storage->initial = storage->row;
    if (!run_program(&machine, entry->program))
        return -EPROTO;
    /* The last row reaches to the end. */
    step_to(&machine, entry->end);
    return 0;
}
