/* SPDX-License-Identifier: MIT */
/* Operands of arm64: 5, x0, w3, sp, [sp, 16], [x0], [x1, x2], [x1, x2, lsl 3]. Symbols are not among them. */
#include "arch/arm64/abi/probe_operand.h"

#include "base/memory_functions.h"
#include "elf/probe_operand_text.h"

#define LAST_REGISTER 30
#define STACK_POINTER 31
#define SHIFT_MAX     3

static bool is_word(struct operand_text text, const char *word, size_t length)
{
    return text.length == length && memcmp(text.at, word, length) == 0;
}

static void pass_spaces(struct operand_text *text)
{
    while (operand_text_begins(text, ' '))
        operand_text_pass(text, 1);
    while (text->length != 0 && text->at[text->length - 1] == ' ')
        text->length--;
}

static bool find_register(struct operand_text text, uint8_t *number_out)
{
    int64_t number;

    if (is_word(text, "sp", 2)) {
        *number_out = STACK_POINTER;
        return true;
    }
    if (!operand_text_begins(&text, 'x') && !operand_text_begins(&text, 'w'))
        return false;
    operand_text_pass(&text, 1);
    if (!operand_text_number(text, &number) || number < 0 || number > LAST_REGISTER)
        return false;
    *number_out = (uint8_t)number;
    return true;
}

/* The next of the parts that commas separate, without spaces around it. */
static struct operand_text take_part(struct operand_text *text)
{
    struct operand_text part = {text->at, operand_text_find(text, ',')};

    operand_text_pass(text, part.length < text->length ? part.length + 1 : part.length);
    pass_spaces(&part);
    return part;
}

/* "lsl 3" or "lsl #3"; nothing is none. */
static bool read_shift(struct operand_text text, struct probe_operand *operand)
{
    int64_t shift;

    if (text.length == 0)
        return true;
    if (text.length < 5 || memcmp(text.at, "lsl ", 4) != 0)
        return false;
    operand_text_pass(&text, 4);
    if (operand_text_begins(&text, '#'))
        operand_text_pass(&text, 1);
    if (!operand_text_number(text, &shift) || shift < 0 || shift > SHIFT_MAX)
        return false;
    operand->shift = (uint8_t)shift;
    return true;
}

/* What is behind the base: nothing, a number, or an index. */
static bool read_index(struct operand_text part, struct operand_text rest, struct probe_operand *operand)
{
    if (operand_text_begins(&part, '#'))
        operand_text_pass(&part, 1);
    if (part.length == 0 || operand_text_number(part, &operand->offset))
        return rest.length == 0;
    pass_spaces(&rest);
    return find_register(part, &operand->index) && operand->index != STACK_POINTER && read_shift(rest, operand);
}

static bool read_memory(struct operand_text text, struct probe_operand *operand)
{
    struct operand_text inner = {text.at + 1, text.length - 2}, base, index;

    if (text.length < 2 || text.at[text.length - 1] != ']')
        return false;
    base = take_part(&inner);
    index = take_part(&inner);
    operand->kind = PROBE_OPERAND_MEMORY;
    operand->index = PROBE_NO_REGISTER;
    return find_register(base, &operand->base) && read_index(index, inner, operand);
}

bool arm64_probe_operand_read(struct operand_text text, struct probe_operand *operand)
{
    if (operand_text_begins(&text, '['))
        return read_memory(text, operand);
    if (operand_text_begins(&text, '#'))
        operand_text_pass(&text, 1);
    operand->kind = PROBE_OPERAND_CONSTANT;
    if (is_word(text, "xzr", 3) || is_word(text, "wzr", 3) || operand_text_number(text, &operand->offset))
        return true;
    operand->kind = PROBE_OPERAND_REGISTER;
    return find_register(text, &operand->base);
}
