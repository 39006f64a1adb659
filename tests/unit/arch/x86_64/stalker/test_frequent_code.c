/* SPDX-License-Identifier: MIT */
/* What is written as bytes is what the encoder writes, and nothing is written where there is no room. */
#include "arch/x86_64/stalker/frequent_code.h"

#include "arch/x86_64/stalker/translate.h"
#include "support/check.h"

#define CODE_START 0x70001003u

static uint8_t bytes[64], expected[64];
static struct code_writer writer, encoder;

static void begin(size_t capacity)
{
    memset(bytes, 0xcc, sizeof(bytes));
    memset(expected, 0xcc, sizeof(expected));
    code_writer_init(&writer, bytes, capacity, cache_pc_of(CODE_START));
    code_writer_init(&encoder, expected, sizeof(expected), cache_pc_of(CODE_START));
}

static void check_same(void)
{
    CHECK_EQUAL(code_writer_offset(&writer), code_writer_offset(&encoder));
    CHECK(!code_writer_overflowed(&writer));
    CHECK(memcmp(bytes, expected, sizeof(bytes)) == 0);
}

static void moves_of_all_registers_are_the_encoders(void)
{
    for (unsigned gpr = 0; gpr < X86_GPR_COUNT; gpr++) {
        begin(sizeof(bytes));
        x86_put_to_home(&writer, gpr);
        x86_put_from_home(&writer, gpr);
        x86_mov_mem_reg(&encoder, X86_SIZE_64, register_home(gpr), gpr);
        x86_mov_reg_mem(&encoder, X86_SIZE_64, gpr, register_home(gpr));
        check_same();
    }
}

static void jumps_are_the_encoders(void)
{
    begin(sizeof(bytes));
    x86_put_field_jump(&writer, THREAD_GATE_COLLISION);
    x86_put_jump(&writer, cache_pc_of(CODE_START + 0x1234567));
    x86_put_jump(&writer, cache_pc_of(CODE_START - 0x1234567));
    x86_jmp_mem(&encoder, thread_field(THREAD_GATE_COLLISION));
    x86_jmp_pc(&encoder, cache_pc_of(CODE_START + 0x1234567), X86_REACH_NEAR);
    x86_jmp_pc(&encoder, cache_pc_of(CODE_START - 0x1234567), X86_REACH_NEAR);
    check_same();
}

static void branches_on_all_conditions_are_the_encoders(void)
{
    for (unsigned condition = 0; condition < 16; condition++) {
        begin(sizeof(bytes));
        x86_put_relative(&writer, (uint16_t)(0x800f | condition << 8), 2, cache_pc_of(CODE_START + 8));
        x86_jcc_pc(&encoder, condition, cache_pc_of(CODE_START + 8), X86_REACH_NEAR);
        check_same();
    }
}

static void what_is_out_of_reach_is_an_overflow(void)
{
    begin(sizeof(bytes));
    x86_put_jump(&writer, cache_pc_of(CODE_START + JUMP_BYTES + (uint64_t)INT32_MAX));
    CHECK(!code_writer_overflowed(&writer));
    begin(sizeof(bytes));
    x86_put_jump(&writer, cache_pc_of(CODE_START + JUMP_BYTES + (uint64_t)INT32_MAX + 1));
    CHECK(code_writer_overflowed(&writer));
}

static void nothing_is_written_without_room(void)
{
    for (size_t room = 0; room < 9; room++) {
        begin(room);
        x86_put_to_home(&writer, X86_RCX);
        x86_put_field_jump(&writer, THREAD_GATE);
        x86_put_jump(&writer, cache_pc_of(CODE_START));
        CHECK(code_writer_overflowed(&writer));
        CHECK(memcmp(bytes, expected, sizeof(bytes)) == 0);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(moves_of_all_registers_are_the_encoders),
    CHECK_CASE(jumps_are_the_encoders),
    CHECK_CASE(branches_on_all_conditions_are_the_encoders),
    CHECK_CASE(what_is_out_of_reach_is_an_overflow),
    CHECK_CASE(nothing_is_written_without_room),
};

CHECK_MAIN(cases)
