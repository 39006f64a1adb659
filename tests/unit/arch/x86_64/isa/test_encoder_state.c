/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/encoder_state.h"

#include "support/check.h"
#include "support/encoding_check.h"

static void state_is_saved_to_and_restored_from_memory(void)
{
    static const struct {
        const char *name;
        unsigned shown_size;
    } states[] = {
        [X86_FXSAVE64] = {"fxsave64", 0},     [X86_FXRSTOR64] = {"fxrstor64", 0}, [X86_LDMXCSR] = {"ldmxcsr", 4},
        [X86_STMXCSR] = {"stmxcsr", 4},       [X86_XSAVE64] = {"xsave64", 0},     [X86_XRSTOR64] = {"xrstor64", 0},
        [X86_XSAVEOPT64] = {"xsaveopt64", 0}, [X86_XSAVEC64] = {"xsavec64", 0},
    };

    FOR_EACH(i, states)
    FOR_EACH_MEM(n)
    ENCODES(x86_state_mem(writer, (enum x86_state)i, encoding_sample_mem(n)), "%s %s", states[i].name,
            encoding_mem(states[i].shown_size, encoding_sample_mem(n)));
    CHECK_EQUAL(encoding_finish(), 0);
}

static void segment_bases_move_to_and_from_every_register(void)
{
    static const char *const names[] = {"rdfsbase", "rdgsbase", "wrfsbase", "wrgsbase"};

    FOR_EACH(i, names)
    FOR_EACH_SIZE_FROM(size, X86_SIZE_32)
    FOR_EACH_GPR(reg)
    ENCODES(x86_segment_base(writer, (enum x86_segment_base)i, size, reg), "%s %s", names[i], encoding_gpr(size, reg));
    CHECK_EQUAL(encoding_finish(), 0);
}

static void sizes_that_do_not_exist_are_refused(void)
{
    CHECK(REFUSES(x86_segment_base(writer, X86_RDFSBASE, X86_SIZE_16, X86_RAX)));
}

static const struct check_case cases[] = {
    CHECK_CASE(state_is_saved_to_and_restored_from_memory),
    CHECK_CASE(segment_bases_move_to_and_from_every_register),
    CHECK_CASE(sizes_that_do_not_exist_are_refused),
};

CHECK_MAIN(cases)
