/* SPDX-License-Identifier: MIT */
/*
 * How the operands of probes are written for a machine's assembler: what those who read them for a CPU
 * (arch/<cpu>/abi/probe_operand.c) have in common. No state, no libc.
 */
#ifndef GAIT_ELF_PROBE_OPERAND_TEXT_H
#define GAIT_ELF_PROBE_OPERAND_TEXT_H

#include "base/text_parse.h"
#include "elf/probe_arguments.h"

/* A piece of text, which is not ended. */
struct operand_text {
    const char *at;
    size_t length;
};

static inline bool operand_text_begins(const struct operand_text *text, char letter)
{
    return text->length != 0 && text->at[0] == letter;
}

static inline void operand_text_pass(struct operand_text *text, size_t length)
{
    text->at += length;
    text->length -= length;
}

/* Where a letter first is; the whole length: nowhere. */
static inline size_t operand_text_find(const struct operand_text *text, char letter)
{
    size_t at = 0;

    while (at < text->length && text->at[at] != letter)
        at++;
    return at;
}

/* All of it is a number, with a sign perhaps. */
static inline bool operand_text_number(struct operand_text text, int64_t *number_out)
{
    bool is_negative = operand_text_begins(&text, '-');
    uint64_t number;

    if (is_negative || operand_text_begins(&text, '+'))
        operand_text_pass(&text, 1);
    if (text_parse_number(text.at, text.length, &number) != 0)
        return false;
    *number_out = (int64_t)(is_negative ? -number : number);
    return true;
}

#endif
