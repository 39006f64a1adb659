/* SPDX-License-Identifier: MIT */
/*
 * Saving and restoring what is not in general registers: the vector and floating-point state, its control register,
 * the bases of fs and gs. Flags are in encoder_plain.h: lahf, sahf, pushfq, popfq. See encoder.h for the conventions.
 */
#ifndef GAIT_ARCH_X86_64_ISA_ENCODER_STATE_H
#define GAIT_ARCH_X86_64_ISA_ENCODER_STATE_H

#include "arch/x86_64/isa/encoder_operand.h"

struct code_writer;

/* The xsave family takes what to save in edx:eax and memory aligned to 64, fxsave memory aligned to 16. */
enum x86_state {
    X86_FXSAVE64,
    X86_FXRSTOR64,
    X86_LDMXCSR,
    X86_STMXCSR,
    X86_XSAVE64,
    X86_XRSTOR64,
    X86_XSAVEOPT64,
    X86_XSAVEC64,
};

void x86_state_mem(struct code_writer *writer, enum x86_state operation, struct x86_mem memory);

/* As modrm counts them. */
enum x86_segment_base {
    X86_RDFSBASE,
    X86_RDGSBASE,
    X86_WRFSBASE,
    X86_WRGSBASE,
};

/* Between a segment's base and 32 or 64 bits of a register. Linux 5.9 and later allow it; see AT_HWCAP2. */
void x86_segment_base(struct code_writer *writer, enum x86_segment_base operation, enum x86_size size,
                      enum x86_gpr reg);

#endif
