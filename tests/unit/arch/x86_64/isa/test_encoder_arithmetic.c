/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/encoder_arithmetic.h"

#include "support/check.h"
#include "support/encoding_check.h"

static const char *const names[] = {"add", "or", "adc", "sbb", "and", "sub", "xor", "cmp"};
static const char *const unary_names[] = {"inc", "dec", "not", "neg", "mul", "imul", "div", "idiv"};

static void registers_compute_with_memory_in_every_size(void)
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

static const struct check_case cases[] = {
    CHECK_CASE(registers_compute_with_memory_in_every_size),
    CHECK_CASE(operations_of_one_operand),
};

CHECK_MAIN(cases)
