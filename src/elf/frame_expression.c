/* SPDX-License-Identifier: MIT */
/* Operations in groups by what they take from the stack: nothing, one value, two values, or the stack itself. */
#include "elf/frame_expression.h"

#include "elf/byte_cursor.h"

#include <asm/errno.h>

#define DEPTH_MAX 32
#define STEPS_MAX 1000

/* DW_OP_* */
enum operation {
    OP_ADDRESS = 0x03,
    OP_DEREF = 0x06,
    OP_CONST_1U = 0x08,
    OP_CONST_1S = 0x09,
    OP_CONST_2U = 0x0a,
    OP_CONST_2S = 0x0b,
    OP_CONST_4U = 0x0c,
    OP_CONST_4S = 0x0d,
    OP_CONST_8U = 0x0e,
    OP_CONST_8S = 0x0f,
    OP_CONST_U = 0x10,
    OP_CONST_S = 0x11,
    OP_DUPLICATE = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_PICK = 0x15,
    OP_SWAP = 0x16,
    OP_ROTATE = 0x17,
    OP_ABSOLUTE = 0x19,
    OP_AND = 0x1a,
    OP_MINUS = 0x1c,
    OP_MULTIPLY = 0x1e,
    OP_NEGATE = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_CONST = 0x23,
    OP_SHIFT_LEFT = 0x24,
    OP_SHIFT_RIGHT = 0x25,
    OP_SHIFT_SIGNED = 0x26,
    OP_XOR = 0x27,
    OP_BRANCH = 0x28,
    OP_EQUAL = 0x29,
    OP_GREATER_EQUAL = 0x2a,
    OP_GREATER = 0x2b,
    OP_LESS_EQUAL = 0x2c,
    OP_LESS = 0x2d,
    OP_NOT_EQUAL = 0x2e,
    OP_SKIP = 0x2f,
    OP_LITERAL = 0x30,
    OP_LITERAL_LAST = 0x4f,
    OP_REGISTER = 0x70,
    OP_REGISTER_LAST = 0x8f,
    OP_REGISTER_ANY = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOTHING = 0x96,
};

struct evaluation {
    const struct frame_machine *machine;
    struct byte_range expression;
    struct byte_cursor cursor;
    uint64_t stack[DEPTH_MAX];
    unsigned depth;
    int result;
};

static void push(struct evaluation *evaluation, uint64_t value)
{
    if (evaluation->depth == DEPTH_MAX)
        evaluation->result = -EPROTO;
    else
        evaluation->stack[evaluation->depth++] = value;
}

static uint64_t pop(struct evaluation *evaluation)
{
    if (evaluation->depth == 0) {
        evaluation->result = -EPROTO;
        return 0;
    }
    return evaluation->stack[--evaluation->depth];
}

/* The value that many below the top. */
static uint64_t peek(struct evaluation *evaluation, uint64_t below)
{
    if (below >= evaluation->depth) {
        evaluation->result = -EPROTO;
        return 0;
    }
    return evaluation->stack[evaluation->depth - 1 - below];
}

static void push_register(struct evaluation *evaluation, uint64_t which)
{
    int64_t offset = byte_cursor_sleb(&evaluation->cursor);

    if (which >= FRAME_REGISTERS)
        evaluation->result = -EPROTO;
    else if (!(evaluation->machine->known_registers >> which & 1))
        evaluation->result = -ENODATA;
    else
        push(evaluation, evaluation->machine->registers[which] + (uint64_t)offset);
}

static void dereference(struct evaluation *evaluation, uint64_t size_bytes)
{
    uint64_t address = pop(evaluation), value = 0;

    if (size_bytes == 0 || size_bytes > sizeof(value))
        evaluation->result = -EPROTO;
    else if (evaluation->result == 0 &&
             !evaluation->machine->read(evaluation->machine->context, address, &value, (size_t)size_bytes))
        evaluation->result = -EFAULT;
    push(evaluation, value);
}

static void jump(struct evaluation *evaluation)
{
    int64_t distance = byte_cursor_signed(&evaluation->cursor, 2);
    struct byte_cursor *cursor = &evaluation->cursor;

    if (distance < evaluation->expression.start - cursor->at || distance > cursor->end - cursor->at)
        cursor->is_bad = true;
    else
        cursor->at += distance;
}

/* False: it is no constant. */
static bool run_constant(struct evaluation *evaluation, unsigned operation)
{
    struct byte_cursor *cursor = &evaluation->cursor;

    switch (operation) {
    case OP_ADDRESS:
    case OP_CONST_8U:
    case OP_CONST_8S:
        push(evaluation, byte_cursor_number(cursor, 8));
        return true;
    case OP_CONST_1U:
    case OP_CONST_2U:
    case OP_CONST_4U:
        push(evaluation, byte_cursor_number(cursor, 1u << (operation - OP_CONST_1U) / 2));
        return true;
    case OP_CONST_1S:
    case OP_CONST_2S:
    case OP_CONST_4S:
        push(evaluation, (uint64_t)byte_cursor_signed(cursor, 1u << (operation - OP_CONST_1S) / 2));
        return true;
    case OP_CONST_U:
        push(evaluation, byte_cursor_uleb(cursor));
        return true;
    case OP_CONST_S:
        push(evaluation, (uint64_t)byte_cursor_sleb(cursor));
        return true;
    case OP_REGISTER_ANY:
        push_register(evaluation, byte_cursor_uleb(cursor));
        return true;
    default:
        return false;
    }
}

/* False: it does not change one value to another. */
static bool run_unary(struct evaluation *evaluation, unsigned operation)
{
    switch (operation) {
    case OP_ABSOLUTE: {
        int64_t value = (int64_t)pop(evaluation);

        push(evaluation, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
        return true;
    }
    case OP_NEGATE:
        push(evaluation, 0 - pop(evaluation));
        return true;
    case OP_NOT:
        push(evaluation, ~pop(evaluation));
        return true;
    case OP_PLUS_CONST:
        push(evaluation, pop(evaluation) + byte_cursor_uleb(&evaluation->cursor));
        return true;
    case OP_DEREF:
        dereference(evaluation, 8);
        return true;
    case OP_DEREF_SIZE:
        dereference(evaluation, byte_cursor_number(&evaluation->cursor, 1));
        return true;
    default:
        return false;
    }
}

static uint64_t shift(unsigned operation, uint64_t value, uint64_t count)
{
    bool is_negative = operation == OP_SHIFT_SIGNED && (int64_t)value < 0;

    if (count >= 64)
        return is_negative ? UINT64_MAX : 0;
    if (operation == OP_SHIFT_LEFT)
        return value << count;
    return operation == OP_SHIFT_RIGHT ? value >> count : (uint64_t)((int64_t)value >> count);
}

/* False: it makes no value from two. `under` is the one that was pushed first. */
static bool combine(unsigned operation, uint64_t under, uint64_t top, uint64_t *value_out)
{
    int64_t left = (int64_t)under, right = (int64_t)top;

    switch (operation) {
    case OP_AND:
        *value_out = under & top;
        return true;
    case OP_OR:
        *value_out = under | top;
        return true;
    case OP_XOR:
        *value_out = under ^ top;
        return true;
    case OP_PLUS:
        *value_out = under + top;
        return true;
    case OP_MINUS:
        *value_out = under - top;
        return true;
    case OP_MULTIPLY:
        *value_out = under * top;
        return true;
    case OP_SHIFT_LEFT:
    case OP_SHIFT_RIGHT:
    case OP_SHIFT_SIGNED:
        *value_out = shift(operation, under, top);
        return true;
    case OP_EQUAL:
        *value_out = left == right;
        return true;
    case OP_NOT_EQUAL:
        *value_out = left != right;
        return true;
    case OP_GREATER_EQUAL:
        *value_out = left >= right;
        return true;
    case OP_GREATER:
        *value_out = left > right;
        return true;
    case OP_LESS_EQUAL:
        *value_out = left <= right;
        return true;
    case OP_LESS:
        *value_out = left < right;
        return true;
    default:
        return false;
    }
}

static bool run_binary(struct evaluation *evaluation, unsigned operation)
{
    uint64_t value = 0;

    if (!combine(operation, 0, 0, &value))
        return false;

    uint64_t top = pop(evaluation), under = pop(evaluation);

    (void)combine(operation, under, top, &value);
    push(evaluation, value);
    return true;
}

static void rotate(struct evaluation *evaluation)
{
    uint64_t first = pop(evaluation), second = pop(evaluation), third = pop(evaluation);

    push(evaluation, first);
    push(evaluation, third);
    push(evaluation, second);
}

static void swap(struct evaluation *evaluation)
{
    uint64_t first = pop(evaluation), second = pop(evaluation);

    push(evaluation, first);
    push(evaluation, second);
}

/* What moves values about, or goes elsewhere. */
static void run_other(struct evaluation *evaluation, unsigned operation)
{
    switch (operation) {
    case OP_DUPLICATE:
        push(evaluation, peek(evaluation, 0));
        return;
    case OP_DROP:
        (void)pop(evaluation);
        return;
    case OP_OVER:
        push(evaluation, peek(evaluation, 1));
        return;
    case OP_PICK:
        push(evaluation, peek(evaluation, byte_cursor_number(&evaluation->cursor, 1)));
        return;
    case OP_SWAP:
        swap(evaluation);
        return;
    case OP_ROTATE:
        rotate(evaluation);
        return;
    case OP_BRANCH:
        if (pop(evaluation) != 0)
            jump(evaluation);
        else
            (void)byte_cursor_number(&evaluation->cursor, 2);
        return;
    case OP_SKIP:
        jump(evaluation);
        return;
    case OP_NOTHING:
        return;
    default:
        evaluation->result = -EPROTO;
    }
}

static void run_operation(struct evaluation *evaluation)
{
    unsigned operation = (unsigned)byte_cursor_number(&evaluation->cursor, 1);

    if (operation >= OP_LITERAL && operation <= OP_LITERAL_LAST)
        push(evaluation, operation - OP_LITERAL);
    else if (operation >= OP_REGISTER && operation <= OP_REGISTER_LAST)
        push_register(evaluation, operation - OP_REGISTER);
    else if (!run_constant(evaluation, operation) && !run_unary(evaluation, operation) &&
             !run_binary(evaluation, operation))
        run_other(evaluation, operation);
    if (evaluation->cursor.is_bad)
        evaluation->result = -EPROTO;
}

int frame_expression_evaluate(struct byte_range expression, const struct frame_machine *machine,
                              const uint64_t *initial, uint64_t *value_out)
{
    struct evaluation evaluation = {
        .machine = machine,
        .expression = expression,
        .cursor = {expression.start, expression.end, false},
    };
    unsigned steps = 0;

    if (initial != NULL)
        push(&evaluation, *initial);
    while (evaluation.result == 0 && evaluation.cursor.at < evaluation.cursor.end && steps++ < STEPS_MAX)
        run_operation(&evaluation);
    if (evaluation.result == 0 && (evaluation.depth == 0 || evaluation.cursor.at < evaluation.cursor.end))
        return -EPROTO;
    if (evaluation.result == 0)
        *value_out = evaluation.stack[evaluation.depth - 1];
    return evaluation.result;
}
