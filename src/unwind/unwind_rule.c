/* SPDX-License-Identifier: MIT */
#include "unwind/unwind_rule.h"

#include "arch/arch.h"
#include "base/memory_functions.h"
#include "elf/frame_rows.h"

#define FRAME_WORDS_MAX   0x3fff
#define POINTER_WORDS_MAX 0xfff

/*
 * What linkers say about the stubs of x86_64 through which other libraries are called: breg7(sp) 8, breg16(pc) 0,
 * lit15, and, lit11 (or another), ge, lit3, shl, plus. The stub pushes a word at that byte.
 */
static bool is_stub(struct byte_range expression, uint64_t *threshold_out)
{
    static const uint8_t wanted[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30, 0x2a, 0x33, 0x24, 0x22};
    uint8_t found[sizeof(wanted)];

    if (expression.end - expression.start != sizeof(wanted))
        return false;
    memcpy(found, expression.start, sizeof(found));
    *threshold_out = (uint64_t)(found[6] - 0x30);
    found[6] = wanted[6];
    return *threshold_out < 16 && memcmp(found, wanted, sizeof(wanted)) == 0;
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
    if (frame->kind == FRAME_IS_EXPRESSION && pointer_words == 0 && is_stub(frame->expression, &threshold))
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
