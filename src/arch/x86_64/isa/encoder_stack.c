/* SPDX-License-Identifier: MIT */
/*
 * The forms of push and pop. Invariant: operands have 64 bits, which takes no REX.W. No lock: a writer belongs to one
 * thread. encoder_form.c turns forms into bytes.
 */
#include "arch/x86_64/isa/encoder_stack.h"

#include "arch/x86_64/isa/encoder_form.h"

void x86_push_reg(struct code_writer *writer, enum x86_gpr reg)
{
    x86_encoder_form_emit_opcode_reg(writer, (struct x86_encoder_form){.opcode = 0x50}, reg);
}

void x86_push_mem(struct code_writer *writer, struct x86_mem memory)
{
    x86_encoder_form_emit_mem(writer, (struct x86_encoder_form){.opcode = 0xff, .extension = 6}, memory);
}

void x86_push_imm(struct code_writer *writer, int32_t value)
{
    bool is_short = value == (int8_t)value;
    struct x86_encoder_form form = {.opcode = is_short ? 0x6a : 0x68};

    x86_encoder_form_emit_alone(writer,
                                x86_encoder_form_immediate(form, is_short ? sizeof(int8_t) : sizeof(int32_t), value));
}

void x86_pop_reg(struct code_writer *writer, enum x86_gpr reg)
{
    x86_encoder_form_emit_opcode_reg(writer, (struct x86_encoder_form){.opcode = 0x58}, reg);
}

void x86_pop_mem(struct code_writer *writer, struct x86_mem memory)
{
    x86_encoder_form_emit_mem(writer, (struct x86_encoder_form){.opcode = 0x8f}, memory);
}
