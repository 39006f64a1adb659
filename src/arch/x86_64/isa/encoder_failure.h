/* SPDX-License-Identifier: MIT */
/*
 * The two ways in which an instruction cannot be encoded although there is room. Both end as the writer's sticky
 * overflow, so that whoever finishes the code asks one question. Usable inside the target.
 */
#ifndef GAIT_ARCH_X86_64_ISA_ENCODER_FAILURE_H
#define GAIT_ARCH_X86_64_ISA_ENCODER_FAILURE_H

struct code_writer;

/* A target is out of the instruction's reach: where things are in memory decides that, so it is no bug. */
void x86_encoder_fail(struct code_writer *writer);

/* There is no such instruction, or a label was misused: our own bug, asserted in debug builds. */
void x86_encoder_refuse(struct code_writer *writer, const char *why);

#endif
