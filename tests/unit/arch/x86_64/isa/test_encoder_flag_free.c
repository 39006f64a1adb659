/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/encoder_flag_free.h"

#include "support/check.h"
#include "support/encoding_check.h"

static void rotations_take_registers_and_memory(void)
{
    static const uint8_t counts[] = {0, 1, 63};

    FOR_EACH(c, counts)
    FOR_EACH_SIZE_FROM(size, X86_SIZE_32)
    FOR_EACH_GPR(to)
    {
        FOR_EACH_GPR(from)
        ENCODES(x86_rorx_reg_reg(writer, size, to, from, counts[c]), "rorx %s, %s, 0x%x", encoding_gpr(size, to),
                encoding_gpr(size, from), counts[c]);
        FOR_EACH_MEM(n)
        ENCODES(x86_rorx_reg_mem(writer, size, to, encoding_sample_mem(n), counts[c]), "rorx %s, %s, 0x%x",
                encoding_gpr(size, to), encoding_mem(size, encoding_sample_mem(n)), counts[c]);
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static const char *const names[] = {"shlx", "shrx", "sarx", "pdep", "pext", "mulx"};

/* Shifts name the count last; the others name the source last. */
static void claim_three(enum x86_flag_free operation, const char *to, const char *with, const char *source)
{
    bool count_last = operation <= X86_SARX;

    encoding_claim("%s %s, %s, %s", names[operation], to, count_last ? source : with, count_last ? with : source);
}

static void check_three(enum x86_flag_free operation, enum x86_size size, struct x86_flag_free_registers registers)
{
    const char *to = encoding_gpr(size, registers.destination);
    const char *with = encoding_gpr(size, registers.with);

    FOR_EACH_GPR(source)
    {
        for (struct code_writer *w = encoding_begin(); w != NULL; w = encoding_again())
            x86_flag_free_reg(w, operation, size, registers, source);
        claim_three(operation, to, with, encoding_gpr(size, source));
    }
    struct x86_mem memory = encoding_sample_mem((registers.destination + 3 * registers.with) % ENCODING_MEM_COUNT);

    for (struct code_writer *w = encoding_begin(); w != NULL; w = encoding_again())
        x86_flag_free_mem(w, operation, size, registers, memory);
    claim_three(operation, to, with, encoding_mem(size, memory));
}

static void three_operands_take_every_register(void)
{
    FOR_EACH(i, names)
    FOR_EACH_SIZE_FROM(size, X86_SIZE_32)
    FOR_EACH_GPR(to)
    FOR_EACH_GPR(with)
    check_three((enum x86_flag_free)i, size, (struct x86_flag_free_registers){.destination = to, .with = with});
    CHECK_EQUAL(encoding_finish(), 0);
}

static void sizes_that_do_not_exist_are_refused(void)
{
    struct x86_flag_free_registers registers = {X86_RAX, X86_RCX};

    CHECK(REFUSES(x86_rorx_reg_reg(writer, X86_SIZE_16, X86_RAX, X86_RCX, 1)));
    CHECK(REFUSES(x86_flag_free_reg(writer, X86_SHLX, X86_SIZE_8, registers, X86_RCX)));
}

static const struct check_case cases[] = {
    CHECK_CASE(rotations_take_registers_and_memory),
    CHECK_CASE(three_operands_take_every_register),
    CHECK_CASE(sizes_that_do_not_exist_are_refused),
};

CHECK_MAIN(cases)
