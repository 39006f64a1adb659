/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/encoder_arithmetic.h"

#include "support/check.h"
#include "support/encoding_check.h"

static const char *const names[] = {"add", "or", "adc", "sbb", "and", "sub", "xor", "cmp"};
static const char *const unary_names[] = {"inc", "dec", "not", "neg", "mul", "imul", "div", "idiv"};

static const struct {
    int64_t value;
    enum x86_size smallest;
} immediates[] = {
    {0, X86_SIZE_8},        {1, X86_SIZE_8},          {-1, X86_SIZE_8},         {0x7f, X86_SIZE_8},
    {-0x80, X86_SIZE_8},    {0x80, X86_SIZE_8},       {0xff, X86_SIZE_8},       {-0x81, X86_SIZE_16},
    {0x100, X86_SIZE_16},   {0x7fff, X86_SIZE_16},    {-0x8000, X86_SIZE_16},   {0x8000, X86_SIZE_16},
    {0x10000, X86_SIZE_32}, {INT32_MAX, X86_SIZE_32}, {INT32_MIN, X86_SIZE_32},
};

static void registers_compute_in_every_pair_and_size(void)
{
    FOR_EACH(i, names)
    FOR_EACH_SIZE(size)
    FOR_EACH_GPR(to)
    FOR_EACH_GPR(from)
    ENCODES(x86_arithmetic_reg_reg(writer, (enum x86_arithmetic)i, size, to, from), "%s %s, %s", names[i],
            encoding_gpr(size, to), encoding_gpr(size, from));
    CHECK_EQUAL(encoding_finish(), 0);
}

static void memory_computes_with_every_register_and_size(void)
{
    FOR_EACH(i, names)
    FOR_EACH_SIZE(size)
    FOR_EACH_GPR(reg)
    FOR_EACH_MEM(n)
    {
        struct x86_mem memory = encoding_sample_mem(n);

        if ((n + reg) % 4 != i % 4) /* a quarter of the pairs, so that two operations share each */
            continue;
        ENCODES(x86_arithmetic_reg_mem(writer, (enum x86_arithmetic)i, size, reg, memory), "%s %s, %s", names[i],
                encoding_gpr(size, reg), encoding_mem(size, memory));
        ENCODES(x86_arithmetic_mem_reg(writer, (enum x86_arithmetic)i, size, memory, reg), "%s %s, %s", names[i],
                encoding_mem(size, memory), encoding_gpr(size, reg));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void immediates_take_the_shortest_form_with_registers(void)
{
    FOR_EACH(i, names)
    FOR_EACH(v, immediates)
    FOR_EACH_SIZE_FROM(size, immediates[v].smallest)
    FOR_EACH_GPR(to)
    ENCODES(x86_arithmetic_reg_imm(writer, (enum x86_arithmetic)i, size, to, immediates[v].value), "%s %s, 0x%llx",
            names[i], encoding_gpr(size, to), encoding_imm(size, immediates[v].value));
    CHECK_EQUAL(encoding_finish(), 0);
}

static void immediates_may_be_written_unsigned(void)
{
    static const int64_t all_ones[] = {[X86_SIZE_8] = 0xff, [X86_SIZE_16] = 0xffff, [X86_SIZE_32] = 0xffffffff};

    for (enum x86_size size = X86_SIZE_8; size < X86_SIZE_64; size = (enum x86_size)(size * 2)) {
        ENCODES(x86_arithmetic_reg_imm(writer, X86_XOR, size, X86_RDX, all_ones[size]), "xor %s, 0x%llx",
                encoding_gpr(size, X86_RDX), encoding_imm(size, -1));
        CHECK_EQUAL(encoding_length(), size == X86_SIZE_16 ? 4 : 3);
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void immediates_take_the_shortest_form_with_memory(void)
{
    FOR_EACH(i, names)
    FOR_EACH(v, immediates)
    FOR_EACH_SIZE_FROM(size, immediates[v].smallest)
    FOR_EACH_MEM(n)
    ENCODES(x86_arithmetic_mem_imm(writer, (enum x86_arithmetic)i, size, encoding_sample_mem(n), immediates[v].value),
            "%s %s, 0x%llx", names[i], encoding_mem(size, encoding_sample_mem(n)),
            encoding_imm(size, immediates[v].value));
    CHECK_EQUAL(encoding_finish(), 0);
}

static void test_takes_registers_memory_and_immediates(void)
{
    FOR_EACH_SIZE(size)
    FOR_EACH_GPR(left)
    {
        FOR_EACH_GPR(right)
        ENCODES(x86_test_reg_reg(writer, size, left, right), "test %s, %s", encoding_gpr(size, left),
                encoding_gpr(size, right));
        FOR_EACH_MEM(n)
        ENCODES(x86_test_mem_reg(writer, size, encoding_sample_mem(n), left), "test %s, %s",
                encoding_mem(size, encoding_sample_mem(n)), encoding_gpr(size, left));
    }
    FOR_EACH(v, immediates)
    FOR_EACH_SIZE_FROM(size, immediates[v].smallest)
    {
        FOR_EACH_GPR(left)
        ENCODES(x86_test_reg_imm(writer, size, left, immediates[v].value), "test %s, 0x%llx", encoding_gpr(size, left),
                encoding_imm(size, immediates[v].value));
        FOR_EACH_MEM(n)
        ENCODES(x86_test_mem_imm(writer, size, encoding_sample_mem(n), immediates[v].value), "test %s, 0x%llx",
                encoding_mem(size, encoding_sample_mem(n)), encoding_imm(size, immediates[v].value));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void operations_of_one_operand(void)
{
    FOR_EACH(i, unary_names)
    FOR_EACH_SIZE(size)
    {
        FOR_EACH_GPR(reg)
        ENCODES(x86_unary_reg(writer, (enum x86_unary)i, size, reg), "%s %s", unary_names[i], encoding_gpr(size, reg));
        FOR_EACH_MEM(n)
        ENCODES(x86_unary_mem(writer, (enum x86_unary)i, size, encoding_sample_mem(n)), "%s %s", unary_names[i],
                encoding_mem(size, encoding_sample_mem(n)));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void products_take_two_and_three_operands(void)
{
    FOR_EACH_SIZE_FROM(size, X86_SIZE_16)
    FOR_EACH_GPR(to)
    {
        FOR_EACH_GPR(from)
        {
            ENCODES(x86_imul_reg_reg(writer, size, to, from), "imul %s, %s", encoding_gpr(size, to),
                    encoding_gpr(size, from));
            FOR_EACH(v, immediates)
            if (immediates[v].smallest <= size)
                ENCODES(x86_imul_reg_reg_imm(writer, size, to, from, immediates[v].value), "imul %s, %s, 0x%llx",
                        encoding_gpr(size, to), encoding_gpr(size, from), encoding_imm(size, immediates[v].value));
        }
        FOR_EACH_MEM(n)
        ENCODES(x86_imul_reg_mem(writer, size, to, encoding_sample_mem(n)), "imul %s, %s", encoding_gpr(size, to),
                encoding_mem(size, encoding_sample_mem(n)));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void operands_that_do_not_exist_are_refused(void)
{
    CHECK(REFUSES(x86_imul_reg_reg(writer, X86_SIZE_8, X86_RAX, X86_RCX)));
    CHECK(REFUSES(x86_imul_reg_reg_imm(writer, X86_SIZE_64, X86_RAX, X86_RCX, INT64_MIN)));
    CHECK(REFUSES(x86_arithmetic_reg_imm(writer, X86_ADD, X86_SIZE_64, X86_RAX, 0xffffffff)));
    CHECK(REFUSES(x86_arithmetic_mem_imm(writer, X86_ADD, X86_SIZE_16, x86_mem_base(X86_RAX, 0), 0x10000)));
    CHECK(REFUSES(x86_test_reg_imm(writer, X86_SIZE_8, X86_RCX, -129)));
}

static const struct check_case cases[] = {
    CHECK_CASE(registers_compute_in_every_pair_and_size),
    CHECK_CASE(memory_computes_with_every_register_and_size),
    CHECK_CASE(immediates_take_the_shortest_form_with_registers),
    CHECK_CASE(immediates_may_be_written_unsigned),
    CHECK_CASE(immediates_take_the_shortest_form_with_memory),
    CHECK_CASE(test_takes_registers_memory_and_immediates),
    CHECK_CASE(operations_of_one_operand),
    CHECK_CASE(products_take_two_and_three_operands),
    CHECK_CASE(operands_that_do_not_exist_are_refused),
};

CHECK_MAIN(cases)
