/* SPDX-License-Identifier: MIT */
/*
 * Checks x86-64 encodings. A test emits instructions and claims, in Intel syntax, what each of them is. Two strangers
 * then judge: libZydis must disassemble the bytes to that text, and the GNU assembler must make those bytes of it. On
 * the way every emission is repeated with too little room, and must then write nothing past its limit. For tests only;
 * one thread.
 */
#ifndef GAIT_TESTS_ENCODING_CHECK_H
#define GAIT_TESTS_ENCODING_CHECK_H

#include "arch/x86_64/isa/encoder_operand.h"

#include <stddef.h>

struct code_writer;

/* Where all checked instructions run. */
#define ENCODING_PC UINT64_C(0x7f0012345678)

/*
 * Emits with `writer` in scope and claims what that was; the rest is a printf format. The emission runs many times, so
 * it must not change what it refers to. Its length is known to the format's arguments: encoding_length().
 */
#define ENCODES(emission, ...)                                                                                         \
    do {                                                                                                               \
        for (struct code_writer *writer = encoding_begin(); writer != NULL; writer = encoding_again()) {               \
            emission;                                                                                                  \
        }                                                                                                              \
        encoding_claim(__VA_ARGS__);                                                                                   \
    } while (0)

/*
 * Emits with `writer` in scope and tells whether that was refused as a bug: the sticky overflow, nothing written, and
 * an assertion where there are any. For CHECK(REFUSES(...)).
 */
#define REFUSES(emission)                                                                                              \
    ({                                                                                                                 \
        struct code_writer *writer = encoding_refusal_begin();                                                         \
        emission;                                                                                                      \
        encoding_refused();                                                                                            \
    })

struct code_writer *encoding_refusal_begin(void);
bool encoding_refused(void);

/* The machinery of ENCODES. */
struct code_writer *encoding_begin(void);
struct code_writer *encoding_again(void);
void encoding_claim(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Replaces what the assembler is given for the last claim, where it does not read what the disassembler writes. */
void encoding_assembles_as(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Tells that the assembler would choose other bytes for the last claim, so that only the disassembler can judge. */
void encoding_not_assembled(void);

/* The length of the last emission. */
size_t encoding_length(void);

/* Asks both judges about all claims since the last call, prints the first errors and returns how many there were. */
int encoding_finish(void);

/* Texts. Those of memory live in a few static buffers that are used in turn. A memory size of 0 leaves `ptr` out. */
const char *encoding_gpr(enum x86_size size, enum x86_gpr reg);
const char *encoding_mem(unsigned size_bytes, struct x86_mem memory);
const char *encoding_condition(enum x86_condition condition);

/* The value as an instruction with such operands sees it, all of the bits of its size. */
unsigned long long encoding_imm(enum x86_size size, int64_t value);

#define ENCODING_MEM_COUNT 34

/* Memory operands of every shape, for instructions whose addressing is not the question. n < ENCODING_MEM_COUNT. */
struct x86_mem encoding_sample_mem(unsigned n);

#define FOR_EACH_SIZE(size) for (enum x86_size size = X86_SIZE_8; size <= X86_SIZE_64; size = (enum x86_size)(size * 2))
#define FOR_EACH_SIZE_FROM(size, first)                                                                                \
    for (enum x86_size size = (first); size <= X86_SIZE_64; size = (enum x86_size)(size * 2))
#define FOR_EACH_GPR(reg)     for (enum x86_gpr reg = X86_RAX; reg < X86_GPR_COUNT; reg++)
#define FOR_EACH_MEM(n)       for (unsigned n = 0; n < ENCODING_MEM_COUNT; n++)
#define FOR_EACH(i, array)    for (size_t i = 0; i < sizeof(array) / sizeof((array)[0]); i++)
#define FOR_EACH_CONDITION(c) for (enum x86_condition c = X86_OVERFLOW; c <= X86_GREATER; c++)

#endif
