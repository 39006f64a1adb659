/* SPDX-License-Identifier: MIT */
#include "unwind/unwind_rule.h"

#include "arch/arch.h"
#include "base/memory_functions.h"
#include "elf/frame_rows.h"

#define FRAME_WORDS_MAX   0x3fff
#define POINTER_WORDS_MAX 0xfff

#define LITERAL_0         0x30 /* DW_OP_lit0: those of other small numbers follow */

/* Whether it is that of stubs. */
static bool is_stub(const struct arch_frame_registers *registers, struct byte_range expression, uint64_t *threshold_out)
{
    uint8_t found[ARCH_STUB_EXPRESSION_MAX];
    size_t size_bytes = registers->stub_expression_bytes;

    if (size_bytes == 0 || (size_t)(expression.end - expression.start) != size_bytes)
        return false;
    memcpy(found, expression.start, size_bytes);
    *threshold_out = (uint64_t)(found[registers->stub_pushes_at] - LITERAL_0);
    found[registers->stub_pushes_at] = registers->stub_expression[registers->stub_pushes_at];
    return *threshold_out < 16 && memcmp(found, registers->stub_expression, size_bytes) == 0;
}

/* Whether an offset is so many whole words, from 0 to the most. */
static bool is_words(int64_t offset, int64_t most)
{
    return offset >= 0 && offset % (int64_t)UNWIND_WORD == 0 && offset / (int64_t)UNWIND_WORD <= most;
}

/* The frame pointer's part. False: it is nowhere simple. */
static bool find_pointer(const struct frame_rule *rule, uint64_t *words_out)
{
    *words_out = 0;
    if (rule->kind == FRAME_SAME)
        return true;
    if (rule->kind != FRAME_AT_OFFSET || rule->offset >= 0 || !is_words(-rule->offset, POINTER_WORDS_MAX))
        return false;
    *words_out = (uint64_t)-rule->offset / UNWIND_WORD;
    return true;
}

uint32_t unwind_rule_of(const struct frame_row *row, const struct arch_frame_registers *registers)
{
    const struct frame_rule *frame = &row->frame, *back = &row->registers[registers->return_address];
    uint64_t pointer_words, threshold;

    if (back->kind == FRAME_UNDEFINED)
        return unwind_rule(UNWIND_END, 0, 0);
    if (back->kind != FRAME_AT_OFFSET || back->offset != -(int64_t)UNWIND_WORD ||
        !find_pointer(&row->registers[registers->frame_pointer], &pointer_words))
        return unwind_rule(UNWIND_FULL, 0, 0);
    if (frame->kind == FRAME_IS_EXPRESSION && pointer_words == 0 && is_stub(registers, frame->expression, &threshold))
        return unwind_rule(UNWIND_PLT, threshold, 0);
    if (frame->kind != FRAME_IN_REGISTER || !is_words(frame->offset, FRAME_WORDS_MAX))
        return unwind_rule(UNWIND_FULL, 0, 0);
    if (frame->other_register == registers->stack_pointer)
        return unwind_rule(UNWIND_SP, (uint64_t)frame->offset / UNWIND_WORD, pointer_words);
    if (frame->other_register == registers->frame_pointer)
        return unwind_rule(UNWIND_FP, (uint64_t)frame->offset / UNWIND_WORD, pointer_words);
    return unwind_rule(UNWIND_FULL, 0, 0);
}

uint32_t unwind_rule_at(uint32_t rule, uint64_t pc)
{
    if (unwind_rule_kind(rule) != UNWIND_PLT)
        return rule;
    return unwind_rule(UNWIND_SP, pc % 16 >= unwind_rule_frame_bytes(rule) / UNWIND_WORD ? 2 : 1, 0);
}
