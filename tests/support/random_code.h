/* SPDX-License-Identifier: MIT */
/*
 * Random user-mode x86-64 instructions that can be executed in a harness: valid encodings of every kind, without those
 * that make system calls, depend on time or chance, change segments or leave the harness. Operands are drawn so that
 * most of them reach memory that is there.
 */
#ifndef GAIT_TESTS_RANDOM_CODE_H
#define GAIT_TESTS_RANDOM_CODE_H

#include "arch/x86_64/isa/decoder.h"
#include "support/arena.h"
#include "support/random.h"

struct random_code_options {
    struct arena_span data;  /* what pc-relative operands point into */
    unsigned decode_options; /* of enum x86_decode_option */
    uint64_t run_start;      /* branches often go into these bytes */
    uint64_t run_size;
    unsigned pc_relative_percent; /* of the memory operands */
};

/* Writes an instruction that stands at pc. Returns its length. */
unsigned random_code_insn(struct random *random, const struct random_code_options *options, uint64_t pc,
                          uint8_t bytes[X86_MAX_INSN_BYTES]);

/* The option for the CPU that this runs on. */
unsigned random_code_decode_options(void);

/* Whether an instruction may be executed in the harness and does the same each time. */
bool random_code_is_repeatable(const struct x86_insn *insn);

#endif
