/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/encoder_stack.h"

#include "support/check.h"
#include "support/encoding_check.h"

static void every_register_is_pushed_and_popped(void)
{
    FOR_EACH_GPR(reg)
    {
        ENCODES(x86_push_reg(writer, reg), "push %s", encoding_gpr(X86_SIZE_64, reg));
        ENCODES(x86_pop_reg(writer, reg), "pop %s", encoding_gpr(X86_SIZE_64, reg));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void memory_is_pushed_and_popped(void)
{
    FOR_EACH_MEM(n)
    {
        ENCODES(x86_push_mem(writer, encoding_sample_mem(n)), "push %s", encoding_mem(8, encoding_sample_mem(n)));
        ENCODES(x86_pop_mem(writer, encoding_sample_mem(n)), "pop %s", encoding_mem(8, encoding_sample_mem(n)));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void immediates_are_pushed_sign_extended(void)
{
    static const int32_t values[] = {0, 1, -1, 127, -128, 128, -129, INT32_MAX, INT32_MIN};

    FOR_EACH(i, values)
    ENCODES(x86_push_imm(writer, values[i]), "push 0x%llx", encoding_imm(X86_SIZE_64, values[i]));
    CHECK_EQUAL(encoding_finish(), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(every_register_is_pushed_and_popped),
    CHECK_CASE(memory_is_pushed_and_popped),
    CHECK_CASE(immediates_are_pushed_sign_extended),
};

CHECK_MAIN(cases)
