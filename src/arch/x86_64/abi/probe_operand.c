/* SPDX-License-Identifier: MIT */
/*
 * Operands as AT&T syntax has them: $5, %eax, -16(%rbp), (%rax,%rbx,4), counter(%rip), table+8(,%rcx,8). Segments,
 * vector registers and what has more than one symbol are not understood.
 */
#include "arch/x86_64/abi/probe_operand.h"

#include "base/memory_functions.h"
#include "elf/probe_operand_text.h"

#define REGISTERS   16u
#define NAME_BYTES  6u
#define HIGH_BYTE   8 /* the bit from which on %ah is in %rax */
#define RIP         0xfeu
#define LEGACY_HIGH 4u /* registers that have a high byte: rax, rcx, rdx, rbx */

/* By number: the names of 8, 4, 2 and 1 bytes. */
static const char names[REGISTERS][4][NAME_BYTES] = {
    {"rax", "eax", "ax", "al"},      {"rcx", "ecx", "cx", "cl"},      {"rdx", "edx", "dx", "dl"},
    {"rbx", "ebx", "bx", "bl"},      {"rsp", "esp", "sp", "spl"},     {"rbp", "ebp", "bp", "bpl"},
    {"rsi", "esi", "si", "sil"},     {"rdi", "edi", "di", "dil"},     {"r8", "r8d", "r8w", "r8b"},
    {"r9", "r9d", "r9w", "r9b"},     {"r10", "r10d", "r10w", "r10b"}, {"r11", "r11d", "r11w", "r11b"},
    {"r12", "r12d", "r12w", "r12b"}, {"r13", "r13d", "r13w", "r13b"}, {"r14", "r14d", "r14w", "r14b"},
    {"r15", "r15d", "r15w", "r15b"},
};

static const char high_names[LEGACY_HIGH][NAME_BYTES] = {"ah", "ch", "dh", "bh"};

static bool is_word(struct operand_text text, const char *word)
{
    size_t length = 0;

    while (word[length] != '\0')
        length++;
    return text.length == length && memcmp(text.at, word, length) == 0;
}

/* Of a register's name behind "%"; *shift_out: from which bit on. */
static bool find_register(struct operand_text text, uint8_t *number_out, uint8_t *shift_out)
{
    *shift_out = 0;
    for (uint8_t i = 0; i < REGISTERS; i++)
        for (unsigned size = 0; size < 4; size++)
            if (is_word(text, names[i][size])) {
                *number_out = i;
                return true;
            }
    for (uint8_t i = 0; i < LEGACY_HIGH; i++)
        if (is_word(text, high_names[i])) {
            *number_out = i;
            *shift_out = HIGH_BYTE;
            return true;
        }
    return false;
}

/* A register that an address is made of: of 8 bytes, or the pc. Nothing is none. */
static bool find_address_register(struct operand_text text, uint8_t *number_out)
{
    *number_out = PROBE_NO_REGISTER;
    if (text.length == 0)
        return true;
    if (!operand_text_begins(&text, '%'))
        return false;
    operand_text_pass(&text, 1);
    if (is_word(text, "rip")) {
        *number_out = RIP;
        return true;
    }
    for (uint8_t i = 0; i < REGISTERS; i++)
        if (is_word(text, names[i][0]))
            *number_out = i;
    return *number_out != PROBE_NO_REGISTER;
}

static bool find_shift(struct operand_text text, uint8_t *shift_out)
{
    int64_t scale;

    if (!operand_text_number(text, &scale) || (scale != 1 && scale != 2 && scale != 4 && scale != 8))
        return false;
    *shift_out = (uint8_t)__builtin_ctz((unsigned)scale);
    return true;
}

/* The next of the parts that commas separate. */
static struct operand_text take_part(struct operand_text *text)
{
    struct operand_text part = {text->at, operand_text_find(text, ',')};

    operand_text_pass(text, part.length < text->length ? part.length + 1 : part.length);
    return part;
}

/* What is in the parentheses. */
static bool read_registers(struct operand_text text, struct probe_operand *operand)
{
    struct operand_text base = take_part(&text), index = take_part(&text);

    if (!find_address_register(base, &operand->base) || !find_address_register(index, &operand->index) ||
        operand->index == RIP)
        return false;
    return text.length == 0 || find_shift(text, &operand->shift);
}

static bool is_symbol_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_' || letter == '.' || letter == '$' || letter == '@';
}

/* The letters up to the next sign: those of a number, with the sign before it, or of the symbol. */
static bool take_term(struct operand_text *text, struct probe_operand *operand)
{
    bool has_sign = operand_text_begins(text, '-') || operand_text_begins(text, '+');
    struct operand_text term = {text->at, has_sign};
    int64_t number;

    while (term.length < text->length && is_symbol_letter(term.at[term.length]))
        term.length++;
    if (term.length == has_sign)
        return false;
    operand_text_pass(text, term.length);
    if (operand_text_number(term, &number)) {
        operand->offset = (int64_t)((uint64_t)operand->offset + (uint64_t)number);
        return true;
    }
    if (operand_text_begins(&term, '-') || operand->symbol != NULL)
        return false;
    operand->symbol = term.at + has_sign;
    operand->symbol_length = term.length - has_sign;
    return true;
}

static bool read_offset(struct operand_text text, struct probe_operand *operand)
{
    while (text.length != 0)
        if (!take_term(&text, operand))
            return false;
    return true;
}

static bool read_memory(struct operand_text text, struct probe_operand *operand)
{
    size_t open = operand_text_find(&text, '(');
    struct operand_text offset = {text.at, open}, registers = {text.at + open, text.length - open};

    operand->base = operand->index = PROBE_NO_REGISTER;
    if (!read_offset(offset, operand))
        return false;
    if (registers.length != 0) {
        if (registers.length < 2 || registers.at[registers.length - 1] != ')')
            return false;
        if (!read_registers((struct operand_text){registers.at + 1, registers.length - 2}, operand))
            return false;
    }
    operand->kind = operand->symbol == NULL ? PROBE_OPERAND_MEMORY : PROBE_OPERAND_SYMBOL;
    operand->is_relative = operand->symbol != NULL;
    /* Without a symbol, nobody knows which instruction it would be relative to. */
    if (operand->base == RIP) {
        operand->base = PROBE_NO_REGISTER;
        return operand->symbol != NULL && operand->index == PROBE_NO_REGISTER;
    }
    return text.length != 0;
}

bool x86_probe_operand_read(struct operand_text text, struct probe_operand *operand)
{
    if (operand_text_begins(&text, '$')) {
        operand_text_pass(&text, 1);
        operand->kind = PROBE_OPERAND_CONSTANT;
        return operand_text_number(text, &operand->offset);
    }
    if (operand_text_begins(&text, '%')) {
        operand_text_pass(&text, 1);
        operand->kind = PROBE_OPERAND_REGISTER;
        return find_register(text, &operand->base, &operand->shift);
    }
    return read_memory(text, operand);
}
