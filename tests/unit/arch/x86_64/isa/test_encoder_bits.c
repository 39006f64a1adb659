/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/encoder_bits.h"

#include "support/check.h"
#include "support/encoding_check.h"

static const struct {
    enum x86_shift shift;
    const char *name;
} shifts[] = {
    {X86_ROL, "rol"}, {X86_ROR, "ror"}, {X86_RCL, "rcl"}, {X86_RCR, "rcr"},
    {X86_SHL, "shl"}, {X86_SHR, "shr"}, {X86_SAR, "sar"},
};

static void shifts_take_constants(void)
{
    static const uint8_t counts[] = {0, 1, 2, 7, 31, 63, 255};

    FOR_EACH(i, shifts)
    FOR_EACH(c, counts)
    FOR_EACH_SIZE(size)
    {
        FOR_EACH_GPR(reg)
        ENCODES(x86_shift_reg_imm(writer, shifts[i].shift, size, reg, counts[c]), "%s %s, 0x%x", shifts[i].name,
                encoding_gpr(size, reg), counts[c]);
        FOR_EACH_MEM(n)
        ENCODES(x86_shift_mem_imm(writer, shifts[i].shift, size, encoding_sample_mem(n), counts[c]), "%s %s, 0x%x",
                shifts[i].name, encoding_mem(size, encoding_sample_mem(n)), counts[c]);
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void shifts_take_cl(void)
{
    FOR_EACH(i, shifts)
    FOR_EACH_SIZE(size)
    {
        FOR_EACH_GPR(reg)
        ENCODES(x86_shift_reg_cl(writer, shifts[i].shift, size, reg), "%s %s, cl", shifts[i].name,
                encoding_gpr(size, reg));
        FOR_EACH_MEM(n)
        ENCODES(x86_shift_mem_cl(writer, shifts[i].shift, size, encoding_sample_mem(n)), "%s %s, cl", shifts[i].name,
                encoding_mem(size, encoding_sample_mem(n)));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void single_bits_are_tested(void)
{
    static const char *const names[] = {"bt", "bts", "btr", "btc"};
    static const uint8_t bits[] = {0, 15, 63, 255};

    FOR_EACH(i, names)
    FOR_EACH_SIZE_FROM(size, X86_SIZE_16)
    {
        enum x86_bit_test operation = (enum x86_bit_test)i;

        FOR_EACH(b, bits)
        {
            FOR_EACH_GPR(reg)
            ENCODES(x86_bit_test_reg_imm(writer, operation, size, reg, bits[b]), "%s %s, 0x%x", names[i],
                    encoding_gpr(size, reg), bits[b]);
            FOR_EACH_MEM(n)
            ENCODES(x86_bit_test_mem_imm(writer, operation, size, encoding_sample_mem(n), bits[b]), "%s %s, 0x%x",
                    names[i], encoding_mem(size, encoding_sample_mem(n)), bits[b]);
        }
        FOR_EACH_GPR(reg)
        FOR_EACH_GPR(bit)
        ENCODES(x86_bit_test_reg_reg(writer, operation, size, reg, bit), "%s %s, %s", names[i], encoding_gpr(size, reg),
                encoding_gpr(size, bit));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void bits_are_counted(void)
{
    static const char *const names[] = {"popcnt", "tzcnt", "lzcnt", "bsf", "bsr"};

    FOR_EACH(i, names)
    FOR_EACH_SIZE_FROM(size, X86_SIZE_16)
    FOR_EACH_GPR(to)
    {
        FOR_EACH_GPR(from)
        ENCODES(x86_bit_count_reg_reg(writer, (enum x86_bit_count)i, size, to, from), "%s %s, %s", names[i],
                encoding_gpr(size, to), encoding_gpr(size, from));
        FOR_EACH_MEM(n)
        ENCODES(x86_bit_count_reg_mem(writer, (enum x86_bit_count)i, size, to, encoding_sample_mem(n)), "%s %s, %s",
                names[i], encoding_gpr(size, to), encoding_mem(size, encoding_sample_mem(n)));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void checksums_take_every_source(void)
{
    FOR_EACH_SIZE(size)
    FOR_EACH_GPR(to)
    {
        const char *sum = encoding_gpr(size == X86_SIZE_64 ? X86_SIZE_64 : X86_SIZE_32, to);

        FOR_EACH_GPR(from)
        ENCODES(x86_crc32_reg_reg(writer, size, to, from), "crc32 %s, %s", sum, encoding_gpr(size, from));
        FOR_EACH_MEM(n)
        ENCODES(x86_crc32_reg_mem(writer, size, to, encoding_sample_mem(n)), "crc32 %s, %s", sum,
                encoding_mem(size, encoding_sample_mem(n)));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void sizes_that_do_not_exist_are_refused(void)
{
    CHECK(REFUSES(x86_bit_test_reg_imm(writer, X86_BT, X86_SIZE_8, X86_RAX, 1)));
    CHECK(REFUSES(x86_bit_test_reg_reg(writer, X86_BT, X86_SIZE_8, X86_RAX, X86_RCX)));
    CHECK(REFUSES(x86_bit_count_reg_reg(writer, X86_POPCNT, X86_SIZE_8, X86_RAX, X86_RCX)));
}

static const struct check_case cases[] = {
    CHECK_CASE(shifts_take_constants),       CHECK_CASE(shifts_take_cl),
    CHECK_CASE(single_bits_are_tested),      CHECK_CASE(bits_are_counted),
    CHECK_CASE(checksums_take_every_source), CHECK_CASE(sizes_that_do_not_exist_are_refused),
};

CHECK_MAIN(cases)
