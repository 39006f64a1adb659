/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/encoder_vector.h"

#include "support/check.h"
#include "support/encoding_check.h"

static const struct {
    const char *name;
    char register_class;
    unsigned size_bytes;
} moves[] = {
    [X86_MOVQ] = {"movq", 'x', 8},
    [X86_MOVDQU] = {"movdqu", 'x', 16},
    [X86_VMOVDQU_128] = {"vmovdqu", 'x', 16},
    [X86_VMOVDQU_256] = {"vmovdqu", 'y', 32},
};

static void every_register_is_loaded_and_stored(void)
{
    FOR_EACH(i, moves)
    for (uint8_t vector = 0; vector < 16; vector++)
        FOR_EACH_MEM(n)
        {
            struct x86_mem memory = encoding_sample_mem(n);

            ENCODES(x86_vector_load(writer, (enum x86_vector_move)i, vector, memory), "%s %cmm%d, %s", moves[i].name,
                    moves[i].register_class, vector, encoding_mem(moves[i].size_bytes, memory));
            ENCODES(x86_vector_store(writer, (enum x86_vector_move)i, memory, vector), "%s %s, %cmm%d", moves[i].name,
                    encoding_mem(moves[i].size_bytes, memory), moves[i].register_class, vector);
        }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void general_registers_move_to_and_from_vectors(void)
{
    FOR_EACH_SIZE_FROM(size, X86_SIZE_32)
    FOR_EACH_GPR(reg)
    for (uint8_t vector = 0; vector < 16; vector++) {
        const char *name = size == X86_SIZE_64 ? "movq" : "movd";

        ENCODES(x86_vector_from_reg(writer, size, vector, reg), "%s xmm%d, %s", name, vector, encoding_gpr(size, reg));
        ENCODES(x86_vector_to_reg(writer, size, reg, vector), "%s %s, xmm%d", name, encoding_gpr(size, reg), vector);
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void sizes_that_do_not_exist_are_refused(void)
{
    CHECK(REFUSES(x86_vector_from_reg(writer, X86_SIZE_16, 0, X86_RAX)));
    CHECK(REFUSES(x86_vector_to_reg(writer, X86_SIZE_8, X86_RAX, 0)));
}

static const struct check_case cases[] = {
    CHECK_CASE(every_register_is_loaded_and_stored),
    CHECK_CASE(general_registers_move_to_and_from_vectors),
    CHECK_CASE(sizes_that_do_not_exist_are_refused),
};

CHECK_MAIN(cases)
