/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/label.h"

#include "arch/x86_64/isa/encoder.h"
#include "base/assert.h"
#include "base/code_writer.h"
#include "support/check.h"
#include "support/program_code.h"

#define PC UINT64_C(0x555500001000)

static uint8_t buffer[4096], expected[4096];
static struct code_writer writer, reference;

/* The code with labels goes to `writer`; `reference` gets what it must be, written with known addresses. */
static void begin(void)
{
    memset(buffer, 0, sizeof(buffer));
    memset(expected, 0, sizeof(expected));
    code_writer_init(&writer, buffer, sizeof(buffer), cache_pc_of(PC));
    code_writer_init(&reference, expected, sizeof(expected), cache_pc_of(PC));
}

static void check_same(void)
{
    CHECK(!code_writer_overflowed(&writer));
    CHECK(!code_writer_overflowed(&reference));
    CHECK_EQUAL(code_writer_offset(&writer), code_writer_offset(&reference));
    CHECK(memcmp(buffer, expected, sizeof(buffer)) == 0);
}

static struct cache_pc pc(uint64_t offset)
{
    return cache_pc_of(PC + offset);
}

static void backward_jumps_are_as_short_as_they_can_be(void)
{
    for (size_t gap = 120; gap < 135; gap++) {
        struct x86_label label = {0};

        begin();
        x86_label_bind(&label, &writer);
        x86_nops(&writer, gap);
        x86_nops(&reference, gap);
        x86_jmp_label(&writer, &label, X86_REACH_AUTO);
        x86_jmp_pc(&reference, pc(0), X86_REACH_AUTO);
        x86_jcc_label(&writer, X86_EQUAL, &label, X86_REACH_NEAR);
        x86_jcc_pc(&reference, X86_EQUAL, pc(0), X86_REACH_NEAR);
        check_same();
        CHECK(x86_label_check(&label));
    }
}

static void forward_jumps_are_near_unless_told(void)
{
    struct x86_label label = {0};

    begin();
    x86_jmp_label(&writer, &label, X86_REACH_AUTO);
    x86_jmp_label(&writer, &label, X86_REACH_SHORT);
    x86_jcc_label(&writer, X86_BELOW, &label, X86_REACH_AUTO);
    x86_jcc_label(&writer, X86_BELOW, &label, X86_REACH_SHORT);
    x86_call_label(&writer, &label);
    x86_loop_label(&writer, X86_JRCXZ, X86_SIZE_64, &label);
    x86_loop_label(&writer, X86_LOOP, X86_SIZE_32, &label);
    x86_xbegin_label(&writer, &label);
    CHECK(!x86_label_check(&label));
    uint64_t target = code_writer_offset(&writer);

    x86_label_bind(&label, &writer);
    CHECK(x86_label_check(&label));
    CHECK_EQUAL(x86_label_pc(&label, &writer).value, PC + target);
    x86_jmp_pc(&reference, pc(target), X86_REACH_NEAR);
    x86_jmp_pc(&reference, pc(target), X86_REACH_SHORT);
    x86_jcc_pc(&reference, X86_BELOW, pc(target), X86_REACH_NEAR);
    x86_jcc_pc(&reference, X86_BELOW, pc(target), X86_REACH_SHORT);
    x86_call_pc(&reference, pc(target));
    program_loop(&reference, X86_JRCXZ, pc(target));
    code_writer_put_u8(&reference, 0x67);
    program_loop(&reference, X86_LOOP, pc(target));
    x86_xbegin_pc(&reference, pc(target));
    check_same();
}

static void memory_counts_from_the_end_of_its_instruction(void)
{
    struct x86_label label = {0};
    struct x86_mem by_label = x86_mem_label(&label);
    struct x86_mem by_address = x86_mem_address(PC + 7 + 7 + 9 + 10 + 11);

    for (int round = 0; round < 2; round++) { /* pending, then bound */
        struct code_writer *w = round == 0 ? &writer : &reference;
        struct x86_mem memory = round == 0 ? by_label : by_address;

        if (round == 0)
            begin();
        x86_mov_reg_mem(w, X86_SIZE_64, X86_RAX, memory);
        x86_mov_mem_imm(w, X86_SIZE_8, memory, 1);
        x86_mov_mem_imm(w, X86_SIZE_16, memory, 1);
        x86_mov_mem_imm(w, X86_SIZE_32, memory, 1);
        x86_mov_mem_imm(w, X86_SIZE_64, memory, 1);
        if (round == 0)
            x86_label_bind(&label, &writer);
    }
    check_same();
    x86_mov_mem_imm(&writer, X86_SIZE_32, by_label, 1);
    x86_mov_mem_imm(&reference, X86_SIZE_32, by_address, 1);
    check_same();
}

static void hundreds_of_uses_may_wait(void)
{
    struct x86_label label = {0};
    uint64_t target = 300 * 5 + 60 * 2;

    begin();
    for (int i = 0; i < 300; i++)
        x86_jmp_label(&writer, &label, X86_REACH_NEAR);
    for (int i = 0; i < 60; i++)
        x86_jmp_label(&writer, &label, X86_REACH_SHORT);
    x86_label_bind(&label, &writer);
    for (int i = 0; i < 300; i++)
        x86_jmp_pc(&reference, pc(target), X86_REACH_NEAR);
    for (int i = 0; i < 60; i++)
        x86_jmp_pc(&reference, pc(target), X86_REACH_SHORT);
    check_same();
}

static bool short_jump_reaches_over(size_t gap)
{
    struct x86_label label = {0};

    begin();
    x86_jmp_label(&writer, &label, X86_REACH_SHORT);
    x86_nops(&writer, gap);
    x86_label_bind(&label, &writer);
    return !code_writer_overflowed(&writer);
}

static void short_jumps_out_of_reach_fail(void)
{
    struct x86_label label = {0};

    CHECK(short_jump_reaches_over(127));
    CHECK(!short_jump_reaches_over(128));
    CHECK(!short_jump_reaches_over(1000));

    begin();
    x86_jmp_label(&writer, &label, X86_REACH_SHORT);
    x86_nops(&writer, 200);
    x86_jmp_label(&writer, &label, X86_REACH_SHORT);
    CHECK(code_writer_overflowed(&writer));
}

static int assertions;

static void count_assertion(const char *text, const char *file, int line)
{
    (void)text;
    (void)file;
    (void)line;
    assertions++;
}

static void a_label_that_was_never_bound_is_found(void)
{
    struct x86_label unused, used;

    x86_label_init(&unused);
    x86_label_init(&used);
    begin();
    CHECK(x86_label_check(&unused));
    x86_jmp_label(&writer, &used, X86_REACH_AUTO);
    CHECK(!x86_label_check(&used));
}

static void binding_twice_is_refused(void)
{
    struct x86_label label = {0};

    begin();
    assertions = 0;
    assert_handler_set(count_assertion);
    x86_label_bind(&label, &writer);
    x86_label_bind(&label, &writer);
    assert_handler_set(NULL);
    CHECK(code_writer_overflowed(&writer));
#ifndef NDEBUG
    CHECK_EQUAL(assertions, 1);
#endif
}

/* Uses, binds and constants all meet a limit somewhere; nothing is written past it and nothing is asserted. */
static void running_out_of_room_at_any_point_is_harmless(void)
{
    for (size_t room = 0; room < 40; room++) {
        struct x86_label end = {0}, constant = {0};

        begin();
        code_writer_init(&writer, buffer, room, cache_pc_of(PC));
        x86_jcc_label(&writer, X86_EQUAL, &end, X86_REACH_SHORT);
        x86_mov_mem_imm(&writer, X86_SIZE_64, x86_mem_label(&constant), 1000);
        x86_jmp_label(&writer, &end, X86_REACH_NEAR);
        x86_call_label(&writer, &end);
        x86_label_bind(&constant, &writer);
        code_writer_put_u64(&writer, UINT64_MAX);
        x86_jmp_label(&writer, &end, X86_REACH_SHORT);
        x86_label_bind(&end, &writer);
        CHECK_EQUAL(code_writer_overflowed(&writer), room < 2 + 11 + 5 + 5 + 8 + 2);
        for (size_t i = room; i < sizeof(buffer); i++)
            if (buffer[i] != 0)
                CHECK_EQUAL(buffer[i], 0);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(backward_jumps_are_as_short_as_they_can_be),
    CHECK_CASE(forward_jumps_are_near_unless_told),
    CHECK_CASE(memory_counts_from_the_end_of_its_instruction),
    CHECK_CASE(hundreds_of_uses_may_wait),
    CHECK_CASE(short_jumps_out_of_reach_fail),
    CHECK_CASE(a_label_that_was_never_bound_is_found),
    CHECK_CASE(binding_twice_is_refused),
    CHECK_CASE(running_out_of_room_at_any_point_is_harmless),
};

CHECK_MAIN(cases)
