/* SPDX-License-Identifier: MIT */
/*
 * The text of a decoded instruction, in Intel syntax: destination first, the size of every memory operand said, numbers
 * in hexadecimal, pc-relative operands and targets of branches as the addresses that they mean. No state, no memory, no
 * libc; usable inside the target, from any thread.
 */
#ifndef GAIT_ARCH_X86_64_ISA_FORMAT_H
#define GAIT_ARCH_X86_64_ISA_FORMAT_H

#include "arch/x86_64/isa/decoder.h"
#include "base/text_format.h"

/*
 * Appends the text of an instruction to a text_writer, whose sticky truncation tells whether there was room. `bytes` is
 * what the instruction was decoded from. The longest texts have some 90 characters.
 */
void x86_format(const struct x86_insn *insn, const uint8_t *bytes, struct text_writer *text);

/* The name of a general register, as wide as `bits` (8, 16, 32 or 64; anything else means 64). A constant. */
const char *x86_gpr_name(unsigned number, unsigned bits);

#endif
