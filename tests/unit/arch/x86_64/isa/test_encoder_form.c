/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/encoder_form.h"

#include "arch/x86_64/isa/encoder_move.h"
#include "base/code_writer.h"
#include "support/check.h"
#include "support/encoding_check.h"

static const int32_t displacements[] = {0, 1, -1, 127, -128, 128, -129, INT32_MAX, INT32_MIN};

static void check_addressing(struct x86_mem memory)
{
    ENCODES(x86_lea(writer, X86_SIZE_64, X86_RCX, memory), "lea rcx, %s", encoding_mem(0, memory));
}

static void every_base_takes_every_displacement(void)
{
    FOR_EACH_GPR(base)
    {
        FOR_EACH(i, displacements)
        {
            check_addressing(x86_mem_base(base, displacements[i]));
            check_addressing(x86_mem_address_32(x86_mem_base(base, displacements[i])));
        }
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void every_base_index_and_scale_take_every_displacement(void)
{
    for (unsigned b = 0; b <= X86_GPR_COUNT; b++) {
        enum x86_gpr base = b == X86_GPR_COUNT ? X86_GPR_NONE : (enum x86_gpr)b;

        FOR_EACH_GPR(index)
        {
            if (index == X86_RSP)
                continue;
            for (unsigned scale = 1; scale <= 8; scale *= 2)
                FOR_EACH(i, displacements)
            check_addressing(x86_mem_index(base, index, scale, displacements[i]));
            check_addressing(x86_mem_address_32(x86_mem_index(base, index, 2, 0x80)));
        }
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void segments_stand_before_any_address(void)
{
    FOR_EACH_GPR(reg)
    {
        FOR_EACH_MEM(n)
        {
            struct x86_mem memory = encoding_sample_mem(n);

            for (enum x86_segment segment = X86_FS; segment <= X86_GS; segment++) {
                memory.segment = (uint8_t)segment;
                ENCODES(x86_mov_reg_mem(writer, X86_SIZE_64, reg, memory), "mov %s, %s", encoding_gpr(X86_SIZE_64, reg),
                        encoding_mem(8, memory));
            }
        }
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void segments_have_their_prefixes(void)
{
    static const uint8_t prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65};

    FOR_EACH(i, prefixes)
    {
        uint8_t buffer[16];
        struct code_writer writer;

        code_writer_init(&writer, buffer, sizeof(buffer), cache_pc_of(ENCODING_PC));
        x86_mov_reg_mem(&writer, X86_SIZE_32, X86_RAX, x86_mem_segment((enum x86_segment)i, x86_mem_base(X86_RCX, 0)));
        CHECK_EQUAL(code_writer_offset(&writer), 3);
        CHECK_EQUAL(buffer[0], prefixes[i]);
    }
}

static void absolute_addresses_are_sign_extended(void)
{
    FOR_EACH(i, displacements)
    {
        struct x86_mem in_segment = x86_mem_segment(X86_GS, x86_mem_absolute(displacements[i]));

        check_addressing(x86_mem_absolute(displacements[i]));
        ENCODES(x86_mov_reg_mem(writer, X86_SIZE_32, X86_RCX, in_segment), "mov ecx, %s", encoding_mem(4, in_segment));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

/* The immediate stands between the displacement and what it is relative to. */
static void addresses_relative_to_rip_count_from_the_end(void)
{
    static const int64_t distances[] = {0, 1, -1, 0x1000, -0x1000, INT32_MAX, INT32_MIN + 16};

    FOR_EACH(i, distances)
    {
        struct x86_mem memory = x86_mem_address(ENCODING_PC + (uint64_t)distances[i]);

        check_addressing(memory);
        FOR_EACH_SIZE(size)
        ENCODES(x86_mov_mem_imm(writer, size, memory, 5), "mov %s, 0x5", encoding_mem(size, memory));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static bool can_address(int64_t distance_from_end)
{
    uint8_t buffer[16];
    struct code_writer writer;

    code_writer_init(&writer, buffer, sizeof(buffer), cache_pc_of(ENCODING_PC));
    x86_lea(&writer, X86_SIZE_64, X86_RAX, x86_mem_address(ENCODING_PC + 7 + (uint64_t)distance_from_end));
    CHECK_EQUAL(code_writer_offset(&writer), code_writer_overflowed(&writer) ? 0 : 7);
    return !code_writer_overflowed(&writer);
}

static void addresses_out_of_reach_fail(void)
{
    CHECK(can_address(INT32_MAX));
    CHECK(can_address(INT32_MIN));
    CHECK(!can_address((int64_t)INT32_MAX + 1));
    CHECK(!can_address((int64_t)INT32_MIN - 1));
    CHECK(!can_address(INT64_MAX));
    CHECK(!can_address(-(int64_t)ENCODING_PC));
}

static bool refuses(struct x86_mem memory)
{
    return REFUSES(x86_mov_reg_mem(writer, X86_SIZE_64, X86_RAX, memory));
}

static void memory_that_cannot_be_is_refused(void)
{
    CHECK(refuses(x86_mem_index(X86_RAX, X86_RSP, 1, 0)));
    CHECK(refuses(x86_mem_index(X86_RAX, X86_RCX, 3, 0)));
    CHECK(refuses(x86_mem_index(X86_RAX, X86_RCX, 0, 0)));
    CHECK(refuses(x86_mem_base(X86_GPR_COUNT, 0)));
    CHECK(refuses(x86_mem_address_32(x86_mem_address(ENCODING_PC))));
    CHECK(refuses(x86_mem_segment((enum x86_segment)6, x86_mem_base(X86_RAX, 0))));
}

static void immediates_fit_their_operand_signed_or_unsigned(void)
{
    uint8_t buffer[8];
    struct code_writer writer;

    code_writer_init(&writer, buffer, sizeof(buffer), cache_pc_of(0));
    CHECK_EQUAL(x86_immediate_of_size(&writer, X86_SIZE_8, 0xff), -1);
    CHECK_EQUAL(x86_immediate_of_size(&writer, X86_SIZE_8, -128), -128);
    CHECK_EQUAL(x86_immediate_of_size(&writer, X86_SIZE_16, 0x8000), -0x8000);
    CHECK_EQUAL(x86_immediate_of_size(&writer, X86_SIZE_32, 0xffffffff), -1);
    CHECK_EQUAL(x86_immediate_of_size(&writer, X86_SIZE_32, INT32_MIN), INT32_MIN);
    CHECK_EQUAL(x86_immediate_of_size(&writer, X86_SIZE_64, INT32_MIN), INT32_MIN);
    CHECK_EQUAL(x86_immediate_of_size(&writer, X86_SIZE_64, INT32_MAX), INT32_MAX);
    CHECK(!code_writer_overflowed(&writer));
}

static void larger_immediates_are_refused(void)
{
    static const struct {
        enum x86_size size;
        int64_t value;
    } wrong[] = {
        {X86_SIZE_8, 0x100},
        {X86_SIZE_8, -129},
        {X86_SIZE_16, 0x10000},
        {X86_SIZE_16, -0x8001},
        {X86_SIZE_32, 0x100000000},
        {X86_SIZE_32, INT64_MIN},
        {X86_SIZE_64, (int64_t)1 << 31},
        {X86_SIZE_64, INT64_MAX},
        {X86_SIZE_64, -0x80000001L},
    };

    FOR_EACH(i, wrong)
    CHECK(REFUSES(x86_immediate_of_size(writer, wrong[i].size, wrong[i].value)));
}

static const struct check_case cases[] = {
    CHECK_CASE(every_base_takes_every_displacement),
    CHECK_CASE(every_base_index_and_scale_take_every_displacement),
    CHECK_CASE(segments_stand_before_any_address),
    CHECK_CASE(segments_have_their_prefixes),
    CHECK_CASE(absolute_addresses_are_sign_extended),
    CHECK_CASE(addresses_relative_to_rip_count_from_the_end),
    CHECK_CASE(addresses_out_of_reach_fail),
    CHECK_CASE(memory_that_cannot_be_is_refused),
    CHECK_CASE(immediates_fit_their_operand_signed_or_unsigned),
    CHECK_CASE(larger_immediates_are_refused),
};

CHECK_MAIN(cases)
