/* SPDX-License-Identifier: MIT */
/* Instructions of programs that tests write, which nothing in gait does: see arch/x86_64/isa/encoder.h for the words.
 */
#ifndef GAIT_TESTS_SUPPORT_PROGRAM_CODE_H
#define GAIT_TESTS_SUPPORT_PROGRAM_CODE_H

#include "arch/x86_64/isa/encoder_arithmetic.h"
#include "arch/x86_64/isa/encoder_branch.h"

struct code_writer;

void program_arithmetic(struct code_writer *writer, enum x86_arithmetic operation, enum x86_size size,
                        enum x86_gpr destination, enum x86_gpr source);
void program_arithmetic_mem(struct code_writer *writer, enum x86_arithmetic operation, enum x86_size size,
                            struct x86_mem destination, enum x86_gpr source);
void program_setcc(struct code_writer *writer, enum x86_condition condition, enum x86_gpr destination);
void program_call(struct code_writer *writer, enum x86_gpr target);

/* With rcx as the counter; the target is within 8 bits. */
void program_loop(struct code_writer *writer, enum x86_loop loop, struct cache_pc target);

#endif
