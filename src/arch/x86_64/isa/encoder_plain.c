/* SPDX-License-Identifier: MIT */
/*
 * The bytes of instructions without operands. Invariant: the table has a line for each name in the enum, since both
 * come from plain_instructions.def. No lock: a writer belongs to one thread.
 */
#include "arch/x86_64/isa/encoder_plain.h"

#include "base/code_writer.h"

#define PLAIN_MAX 4

struct plain {
    uint8_t length;
    uint8_t bytes[PLAIN_MAX];
};

static const struct plain plains[X86_PLAIN_COUNT] = {
#define X86_PLAIN(name, text, ...) [X86_##name] = {sizeof((const uint8_t[]){__VA_ARGS__}), {__VA_ARGS__}},
#include "arch/x86_64/isa/plain_instructions.def"
#undef X86_PLAIN
};

void x86_plain(struct code_writer *writer, enum x86_plain instruction)
{
    code_writer_put_bytes(writer, plains[instruction].bytes, plains[instruction].length);
}
