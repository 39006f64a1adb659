/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/encoder_padding.h"

#include "base/code_writer.h"
#include "support/check.h"

#include <Zydis/Zydis.h>

static uint8_t buffer[256];

static struct code_writer writer_at(uint64_t pc)
{
    struct code_writer writer;

    memset(buffer, 0, sizeof(buffer));
    code_writer_init(&writer, buffer, sizeof(buffer), cache_pc_of(pc));
    return writer;
}

/* How many instructions the bytes are, or -1 if one of them is not a nop. */
static int count_nops(size_t size)
{
    ZydisDecoder decoder;
    int count = 0;

    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (size_t at = 0; at < size; count++) {
        ZydisDecodedInstruction instruction;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

        if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, buffer + at, size - at, &instruction, operands)) ||
            instruction.mnemonic != ZYDIS_MNEMONIC_NOP)
            return -1;
        at += instruction.length;
    }
    return count;
}

static void nops_fill_exactly_with_few_instructions(void)
{
    for (size_t size = 0; size <= 100; size++) {
        struct code_writer writer = writer_at(0x1000);

        x86_nops(&writer, size);
        CHECK_EQUAL(code_writer_offset(&writer), size);
        CHECK_EQUAL(count_nops(size), (size + 14) / 15);
        CHECK_EQUAL(buffer[size], 0);
    }
}

static void nops_without_room_write_nothing(void)
{
    for (size_t room = 0; room < 40; room++) {
        struct code_writer writer;

        memset(buffer, 0, sizeof(buffer));
        code_writer_init(&writer, buffer, room, cache_pc_of(0));
        x86_nops(&writer, 40);
        CHECK(code_writer_overflowed(&writer));
        CHECK_EQUAL(buffer[0], 0);
        CHECK_EQUAL(buffer[room], 0);
    }
}

static void alignment_is_of_the_running_address(void)
{
    for (size_t alignment = 1; alignment <= 64; alignment *= 2) {
        for (uint64_t pc = 0x7003; pc < 0x7003 + 64; pc++) {
            struct code_writer writer = writer_at(pc);

            x86_align(&writer, alignment);
            CHECK_EQUAL(code_writer_pc(&writer).value, (pc + alignment - 1) / alignment * alignment);
        }
    }
}

static void fields_do_not_cross_words_and_padding_is_minimal(void)
{
    for (size_t lead = 0; lead < 16; lead++) {
        for (size_t size = 1; size <= 8; size *= 2) {
            for (uint64_t pc = 0x7000; pc < 0x7010; pc++) {
                struct code_writer writer = writer_at(pc);

                x86_align_field(&writer, lead, size);
                uint64_t field = code_writer_pc(&writer).value + lead;
                bool was_inside = (pc + lead) / 8 == (pc + lead + size - 1) / 8;

                CHECK_EQUAL(field / 8, (field + size - 1) / 8);
                CHECK(was_inside ? code_writer_offset(&writer) == 0 : code_writer_offset(&writer) < size);
            }
        }
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(nops_fill_exactly_with_few_instructions),
    CHECK_CASE(nops_without_room_write_nothing),
    CHECK_CASE(alignment_is_of_the_running_address),
    CHECK_CASE(fields_do_not_cross_words_and_padding_is_minimal),
};

CHECK_MAIN(cases)
