/* SPDX-License-Identifier: MIT */
/*
 * The forms of vector moves. A vector register is counted like a general one and always stands in modrm.reg.
 * Invariant: a store of less than a register leaves the register as it was. No lock: a writer belongs to one thread.
 * encoder_form.c turns forms into bytes.
 */
#include "arch/x86_64/isa/encoder_vector.h"

#include "arch/x86_64/isa/encoder_failure.h"
#include "arch/x86_64/isa/encoder_form.h"

struct opcode {
    uint8_t prefix, byte;
};

static const struct vector_move {
    uint8_t vex;
    struct opcode load, store;
} vector_moves[] = {
    [X86_MOVQ] = {X86_VEX_NONE, {0xf3, 0x7e}, {0x66, 0xd6}},
    [X86_MOVDQU] = {X86_VEX_NONE, {0xf3, 0x6f}, {0xf3, 0x7f}},
    [X86_VMOVDQU_128] = {X86_VEX_128, {0xf3, 0x6f}, {0xf3, 0x7f}},
    [X86_VMOVDQU_256] = {X86_VEX_256, {0xf3, 0x6f}, {0xf3, 0x7f}},
};

static struct x86_encoder_form vector_form(uint8_t vex, struct opcode opcode, uint8_t vector)
{
    return (struct x86_encoder_form){
        .vex = vex,
        .map = X86_MAP_0F,
        .prefix = opcode.prefix,
        .opcode = opcode.byte,
        .reg = vector,
    };
}

void x86_vector_load(struct code_writer *writer, enum x86_vector_move move, uint8_t vector, struct x86_mem source)
{
    x86_encoder_form_emit_mem(writer, vector_form(vector_moves[move].vex, vector_moves[move].load, vector), source);
}

void x86_vector_store(struct code_writer *writer, enum x86_vector_move move, struct x86_mem destination, uint8_t vector)
{
    x86_encoder_form_emit_mem(writer, vector_form(vector_moves[move].vex, vector_moves[move].store, vector),
                              destination);
}

static void move_general(struct code_writer *writer, uint8_t opcode, enum x86_size size, uint8_t vector,
                         enum x86_gpr reg)
{
    struct x86_encoder_form form = vector_form(X86_VEX_NONE, (struct opcode){0x66, opcode}, vector);

    form.size = (uint8_t)size;
    if (size != X86_SIZE_32 && size != X86_SIZE_64)
        x86_encoder_refuse(writer, "a move of less than 32 bits to or from a vector register");
    x86_encoder_form_emit_reg(writer, form, reg);
}

void x86_vector_from_reg(struct code_writer *writer, enum x86_size size, uint8_t vector, enum x86_gpr source)
{
    move_general(writer, 0x6e, size, vector, source);
}

void x86_vector_to_reg(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, uint8_t vector)
{
    move_general(writer, 0x7e, size, vector, destination);
}
