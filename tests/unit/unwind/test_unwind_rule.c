/* SPDX-License-Identifier: MIT */
#include "unwind/unwind_rule.h"

#include "arch/arch.h"
#include "elf/frame_rows.h"
#include "support/check.h"

#define SP     7
#define FP     6
#define RETURN 16

static const struct arch_frame_registers silent_numbers = {
    .stack_pointer = SP, .frame_pointer = FP, .return_address = RETURN};
static const struct arch_frame_registers numbers = {
    .stack_pointer = SP,
    .frame_pointer = FP,
    .return_address = RETURN,
    .stub_expression = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22},
    .stub_expression_bytes = 11,
    .stub_pushes_at = 6};

/* The frame is that far above a register, the return address below it, and everything else unchanged. */
static struct frame_row simple_row(uint32_t base, int64_t offset)
{
    struct frame_row row = {.frame = {.kind = FRAME_IN_REGISTER, .other_register = base, .offset = offset}};

    row.registers[RETURN] = (struct frame_rule){.kind = FRAME_AT_OFFSET, .offset = -8};
    return row;
}

static uint32_t rule_of(const struct frame_row *row)
{
    return unwind_rule_of(row, &numbers);
}

static void frames_above_the_stack_pointer(void)
{
    struct frame_row row = simple_row(SP, 48);
    uint32_t rule = rule_of(&row);

    CHECK_EQUAL(unwind_rule_kind(rule), UNWIND_SP);
    CHECK_EQUAL(unwind_rule_frame_bytes(rule), 48);
    CHECK_EQUAL(unwind_rule_pointer_bytes(rule), 0);
    row.registers[FP] = (struct frame_rule){.kind = FRAME_AT_OFFSET, .offset = -16};
    rule = rule_of(&row);
    CHECK_EQUAL(unwind_rule_kind(rule), UNWIND_SP);
    CHECK_EQUAL(unwind_rule_pointer_bytes(rule), 16);
    CHECK_EQUAL(rule >> UNWIND_RULE_BITS, 0);
}

static void frames_above_the_frame_pointer(void)
{
    struct frame_row row = simple_row(FP, 16);
    uint32_t rule;

    row.registers[FP] = (struct frame_rule){.kind = FRAME_AT_OFFSET, .offset = -16};
    rule = rule_of(&row);
    CHECK_EQUAL(unwind_rule_kind(rule), UNWIND_FP);
    CHECK_EQUAL(unwind_rule_frame_bytes(rule), 16);
    CHECK_EQUAL(unwind_rule_pointer_bytes(rule), 16);
}

static void the_largest_frames_fit(void)
{
    struct frame_row row = simple_row(SP, 0x3fff * 8);

    row.registers[FP] = (struct frame_rule){.kind = FRAME_AT_OFFSET, .offset = -0xfff * 8};
    CHECK_EQUAL(unwind_rule_frame_bytes(rule_of(&row)), 0x3fff * 8);
    CHECK_EQUAL(unwind_rule_pointer_bytes(rule_of(&row)), 0xfff * 8);
    CHECK_EQUAL(rule_of(&row) >> UNWIND_RULE_BITS, 0);
    row.frame.offset += 8;
    CHECK_EQUAL(unwind_rule_kind(rule_of(&row)), UNWIND_FULL);
    row.frame.offset -= 8;
    row.registers[FP].offset -= 8;
    CHECK_EQUAL(unwind_rule_kind(rule_of(&row)), UNWIND_FULL);
}

static void the_outermost_frame_has_no_caller(void)
{
    struct frame_row row = simple_row(SP, 8);

    row.registers[RETURN].kind = FRAME_UNDEFINED;
    CHECK_EQUAL(unwind_rule_kind(rule_of(&row)), UNWIND_END);
}

static void everything_else_is_left_to_the_full_way(void)
{
    static const uint8_t expression[] = {0x76, 0x78, 0x06};
    const struct frame_row usual = simple_row(SP, 16);
    struct frame_row row = simple_row(3, 16);

    CHECK_EQUAL(unwind_rule_kind(rule_of(&row)), UNWIND_FULL);
    row = simple_row(SP, 12);
    CHECK_EQUAL(unwind_rule_kind(rule_of(&row)), UNWIND_FULL);
    row = simple_row(SP, -16);
    CHECK_EQUAL(unwind_rule_kind(rule_of(&row)), UNWIND_FULL);
    row = usual;
    row.registers[RETURN].offset = -16;
    CHECK_EQUAL(unwind_rule_kind(rule_of(&row)), UNWIND_FULL);
    row = usual;
    row.registers[RETURN] = (struct frame_rule){.kind = FRAME_IN_REGISTER, .other_register = 3};
    CHECK_EQUAL(unwind_rule_kind(rule_of(&row)), UNWIND_FULL);
    row = usual;
    row.registers[FP] = (struct frame_rule){.kind = FRAME_IS_OFFSET, .offset = -16};
    CHECK_EQUAL(unwind_rule_kind(rule_of(&row)), UNWIND_FULL);
    row = usual;
    row.registers[FP] = (struct frame_rule){.kind = FRAME_AT_OFFSET, .offset = 8};
    CHECK_EQUAL(unwind_rule_kind(rule_of(&row)), UNWIND_FULL);
    row = usual;
    row.frame = (struct frame_rule){.kind = FRAME_IS_EXPRESSION, .expression = {expression, expression + 3}};
    CHECK_EQUAL(unwind_rule_kind(rule_of(&row)), UNWIND_FULL);
    row.frame.kind = FRAME_UNDEFINED;
    CHECK_EQUAL(unwind_rule_kind(rule_of(&row)), UNWIND_FULL);
}

static void stubs_push_a_word_on_their_way(void)
{
    static const uint8_t expression[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
    struct frame_row row = simple_row(SP, 0);
    uint32_t rule;

    row.frame =
        (struct frame_rule){.kind = FRAME_IS_EXPRESSION, .expression = {expression, expression + sizeof(expression)}};
    rule = rule_of(&row);
    CHECK_EQUAL(unwind_rule_kind(rule), UNWIND_PLT);
    for (unsigned byte = 0; byte < 16; byte++) {
        CHECK_EQUAL(unwind_rule_kind(unwind_rule_at(rule, 0x401020 + byte)), UNWIND_SP);
        CHECK_EQUAL(unwind_rule_frame_bytes(unwind_rule_at(rule, 0x401020 + byte)), byte >= 11 ? 16 : 8);
    }
    row.frame.expression.end--;
    CHECK_EQUAL(unwind_rule_kind(rule_of(&row)), UNWIND_FULL);
    /* A CPU whose linkers say nothing. */
    row.frame.expression.end++;
    CHECK_EQUAL(unwind_rule_kind(unwind_rule_of(&row, &silent_numbers)), UNWIND_FULL);
    /* Others are the same everywhere. */
    rule = unwind_rule(UNWIND_SP, 5, 2);
    CHECK_EQUAL(unwind_rule_at(rule, 0x40102f), rule);
}

static const struct check_case cases[] = {
    CHECK_CASE(frames_above_the_stack_pointer),
    CHECK_CASE(frames_above_the_frame_pointer),
    CHECK_CASE(the_largest_frames_fit),
    CHECK_CASE(the_outermost_frame_has_no_caller),
    CHECK_CASE(everything_else_is_left_to_the_full_way),
    CHECK_CASE(stubs_push_a_word_on_their_way),
};

CHECK_MAIN(cases)
