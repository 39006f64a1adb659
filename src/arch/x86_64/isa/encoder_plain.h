/* SPDX-License-Identifier: MIT */
/*
 * The instructions without explicit operands, one line each in plain_instructions.def. See encoder.h for the
 * conventions.
 */
#ifndef GAIT_ARCH_X86_64_ISA_ENCODER_PLAIN_H
#define GAIT_ARCH_X86_64_ISA_ENCODER_PLAIN_H

struct code_writer;

enum x86_plain {
#define X86_PLAIN(name, text, ...) X86_##name,
#include "arch/x86_64/isa/plain_instructions.def"
#undef X86_PLAIN
    X86_PLAIN_COUNT,
};

void x86_plain(struct code_writer *writer, enum x86_plain instruction);

#endif
