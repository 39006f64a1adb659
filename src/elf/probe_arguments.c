/* SPDX-License-Identifier: MIT */
/* Arguments are "SIZE@OPERAND", with spaces between them; a size below 0 means that there is a sign. */
#include "elf/probe_arguments.h"

#include "elf/elf_memory.h"
#include "elf/probe_operand_text.h"

#define WORD_BYTES 8

/* "-4", "8", "8f". */
static bool read_size(struct operand_text text, struct probe_operand *operand)
{
    int64_t size;

    operand->is_real = text.length != 0 && text.at[text.length - 1] == 'f';
    text.length -= operand->is_real;
    if (!operand_text_number(text, &size))
        return false;
    operand->is_signed = size < 0 && !operand->is_real;
    size = size < 0 ? -size : size;
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return false;
    operand->size_bytes = (uint8_t)size;
    return true;
}

static void read_argument(struct operand_text text, probe_operand_reader read, struct probe_operand *operand)
{
    const struct probe_operand unknown = {.kind = PROBE_OPERAND_UNKNOWN, .size_bytes = WORD_BYTES};
    size_t at = operand_text_find(&text, '@');

    *operand = unknown;
    if (at < text.length) {
        if (!read_size((struct operand_text){text.at, at}, operand)) {
            *operand = unknown;
            return;
        }
        operand_text_pass(&text, at + 1);
    }
    if (read == NULL || !read(text, operand))
        *operand = (struct probe_operand){.kind = PROBE_OPERAND_UNKNOWN,
                                          .size_bytes = operand->size_bytes,
                                          .is_signed = operand->is_signed,
                                          .is_real = operand->is_real};
}

/* Up to the next space that is not within brackets. */
static struct operand_text take_argument(struct operand_text *text)
{
    struct operand_text argument = {text->at, 0};
    bool is_inside = false;

    while (argument.length < text->length && (is_inside || argument.at[argument.length] != ' ')) {
        is_inside = (is_inside || argument.at[argument.length] == '[') && argument.at[argument.length] != ']';
        argument.length++;
    }
    operand_text_pass(text, argument.length);
    return argument;
}

void probe_arguments_parse(const char *text, size_t length, probe_operand_reader read,
                           struct probe_arguments *arguments_out)
{
    struct operand_text left = {text, length};

    *arguments_out = (struct probe_arguments){.count = 0};
    for (;;) {
        while (operand_text_begins(&left, ' '))
            operand_text_pass(&left, 1);
        if (left.length == 0)
            return;
        if (arguments_out->count == PROBE_ARGUMENTS_MAX) {
            arguments_out->is_partial = true;
            return;
        }
        read_argument(take_argument(&left), read, &arguments_out->operands[arguments_out->count++]);
    }
}

void probe_operand_resolve(struct probe_operand *operand, uint64_t address)
{
    if (operand->kind != PROBE_OPERAND_SYMBOL)
        return;
    operand->kind = PROBE_OPERAND_MEMORY;
    operand->offset = (int64_t)((uint64_t)operand->offset + address);
}

void probe_operand_move(struct probe_operand *operand, uint64_t bias)
{
    if (operand->kind == PROBE_OPERAND_MEMORY && operand->is_relative)
        operand->offset = (int64_t)((uint64_t)operand->offset + bias);
}

static bool add_register(struct probe_registers registers, unsigned number, unsigned shift, uint64_t *sum)
{
    if (number == PROBE_NO_REGISTER)
        return true;
    if (number >= registers.count)
        return false;
    *sum += registers.values[number] << shift;
    return true;
}

bool probe_operand_place(const struct probe_operand *operand, struct probe_registers registers, uint64_t *place_out)
{
    uint64_t place = (uint64_t)operand->offset;

    if (operand->kind != PROBE_OPERAND_MEMORY || !add_register(registers, operand->base, 0, &place) ||
        !add_register(registers, operand->index, operand->shift, &place))
        return false;
    *place_out = place;
    return true;
}

static uint64_t extend(const struct probe_operand *operand, uint64_t bits)
{
    unsigned unused = 64 - 8u * operand->size_bytes;

    return operand->is_signed ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits << unused >> unused;
}

bool probe_operand_evaluate(const struct probe_operand *operand, struct probe_registers registers,
                            const struct elf_memory *memory, uint64_t *value_out)
{
    uint64_t bits = 0, place;

    switch ((enum probe_operand_kind)operand->kind) {
    case PROBE_OPERAND_CONSTANT:
        bits = (uint64_t)operand->offset;
        break;
    case PROBE_OPERAND_REGISTER:
        if (operand->base >= registers.count)
            return false;
        bits = registers.values[operand->base] >> operand->shift;
        break;
    case PROBE_OPERAND_MEMORY:
        if (!probe_operand_place(operand, registers, &place) ||
            !memory->read(memory->context, place, &bits, operand->size_bytes))
            return false;
        break;
    default:
        return false;
    }
    *value_out = extend(operand, bits);
    return true;
}
