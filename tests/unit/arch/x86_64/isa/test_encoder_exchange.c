/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/encoder_exchange.h"

#include "support/check.h"
#include "support/encoding_check.h"

static const char *const names[] = {"xchg", "xadd", "cmpxchg"};

static void memory_exchanges_with_every_register_and_size(void)
{
    FOR_EACH(i, names)
    FOR_EACH_SIZE(size)
    FOR_EACH_GPR(from)
    FOR_EACH_MEM(n)
    ENCODES(x86_exchange_mem_reg(writer, (enum x86_exchange)i, size, encoding_sample_mem(n), from), "%s %s, %s",
            names[i], encoding_mem(size, encoding_sample_mem(n)), encoding_gpr(size, from));
    CHECK_EQUAL(encoding_finish(), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(memory_exchanges_with_every_register_and_size),
};

CHECK_MAIN(cases)
