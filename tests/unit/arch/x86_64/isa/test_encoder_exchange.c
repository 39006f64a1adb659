/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/encoder_exchange.h"

#include "arch/x86_64/isa/encoder_arithmetic.h"
#include "support/check.h"
#include "support/encoding_check.h"

static const char *const names[] = {"xchg", "xadd", "cmpxchg"};

static void registers_exchange_in_every_pair_and_size(void)
{
    FOR_EACH(i, names)
    FOR_EACH_SIZE(size)
    FOR_EACH_GPR(to)
    FOR_EACH_GPR(from)
    {
        bool is_short = i == X86_XCHG && size != X86_SIZE_8 && to == X86_RAX && from != X86_RAX;

        /* The accumulator's own form has no order; it is shown with the other register first. */
        ENCODES(x86_exchange_reg_reg(writer, (enum x86_exchange)i, size, to, from), "%s %s, %s", names[i],
                encoding_gpr(size, is_short ? from : to), encoding_gpr(size, is_short ? to : from));
        if (i == X86_XCHG && to == X86_RAX && from == X86_RAX)
            encoding_not_assembled();
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void memory_exchanges_with_every_register_and_size(void)
{
    FOR_EACH(i, names)
    FOR_EACH_SIZE(size)
    FOR_EACH_GPR(from)
    FOR_EACH_MEM(n)
    ENCODES(x86_exchange_mem_reg(writer, (enum x86_exchange)i, size, encoding_sample_mem(n), from), "%s %s, %s",
            names[i], encoding_mem(size, encoding_sample_mem(n)), encoding_gpr(size, from));
    FOR_EACH_MEM(n)
    ENCODES(x86_cmpxchg16b(writer, encoding_sample_mem(n)), "cmpxchg16b %s", encoding_mem(16, encoding_sample_mem(n)));
    CHECK_EQUAL(encoding_finish(), 0);
}

/* The lock byte counts for what is relative to rip: the claim computes distances from the whole instruction's end. */
static void lock_belongs_to_the_next_instruction(void)
{
    FOR_EACH_SIZE(size)
    FOR_EACH_MEM(n)
    {
        struct x86_mem memory = encoding_sample_mem(n);

        for (enum x86_exchange i = X86_XADD; i <= X86_CMPXCHG; i++) {
            ENCODES((x86_lock(writer), x86_exchange_mem_reg(writer, i, size, memory, X86_R9)), "lock %s %s, %s",
                    names[i], encoding_mem(size, memory), encoding_gpr(size, X86_R9));
            encoding_assembles_as("lock; %s %s, %s", names[i], encoding_mem(size, memory), encoding_gpr(size, X86_R9));
        }
        ENCODES((x86_lock(writer), x86_arithmetic_mem_imm(writer, X86_ADD, size, memory, 1)), "lock add %s, 0x1",
                encoding_mem(size, memory));
        encoding_assembles_as("lock; add %s, 1", encoding_mem(size, memory));
        ENCODES((x86_lock(writer), x86_unary_mem(writer, X86_INC, size, memory)), "lock inc %s",
                encoding_mem(size, memory));
        encoding_assembles_as("lock; inc %s", encoding_mem(size, memory));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(registers_exchange_in_every_pair_and_size),
    CHECK_CASE(memory_exchanges_with_every_register_and_size),
    CHECK_CASE(lock_belongs_to_the_next_instruction),
};

CHECK_MAIN(cases)
