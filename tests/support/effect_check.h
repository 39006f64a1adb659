/* SPDX-License-Identifier: MIT */
/*
 * Holds runs of an instruction on the real CPU against what the decoder claims of it: which registers, flags and memory
 * it reads and writes. A check returns NULL if the claim holds, else the name of the claim that does not, with details
 * in the text. No state, no system calls.
 */
#ifndef GAIT_TESTS_EFFECT_CHECK_H
#define GAIT_TESTS_EFFECT_CHECK_H

#include "arch/x86_64/isa/decoder.h"
#include "support/code_runner.h"

/* A run of one instruction, and the memory that it could reach, before and after. */
struct effect_run {
    struct machine_state initial;
    struct run_result result;
    bool is_complete; /* it went on to the next instruction, no fault or trap ended it */
    uint8_t *memory_before;
    uint8_t *memory_after;
    size_t memory_bytes;
};

struct effect_text {
    char *text;
    size_t text_bytes;
};

/* The flags that user code can see changing. */
#define EFFECT_FLAGS (X86_FLAGS_STATUS | X86_FLAG_DF | X86_FLAG_AC | X86_FLAG_ID | X86_FLAG_NT)

/* What is not claimed to be written stays; what is not claimed to fault does not. */
const char *effect_check_single(const struct x86_insn *insn, const struct effect_run *run, struct effect_text text);

/*
 * The same instruction in two states that differ only in registers and flags that it is not claimed to read: the
 * results are the same but for what it is claimed to leave alone or keep.
 */
const char *effect_check_pair(const struct x86_insn *insn, const struct effect_run *first,
                              const struct effect_run *second, struct effect_text text);

/* The same instruction, which is not claimed to read memory, on memory with different contents. */
const char *effect_check_memory(const struct x86_insn *insn, const struct effect_run *first,
                                const struct effect_run *second, struct effect_text text);

#endif
