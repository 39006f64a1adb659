/* SPDX-License-Identifier: MIT */
/*
 * The forms of integer arithmetic. The eight operations of two operands differ in three bits of the opcode. No lock: a
 * writer belongs to one thread. encoder_form.c turns forms into bytes.
 */
#include "arch/x86_64/isa/encoder_arithmetic.h"

#include "arch/x86_64/isa/encoder_form.h"

void x86_arithmetic_reg_mem(struct code_writer *writer, enum x86_arithmetic operation, enum x86_size size,
                            enum x86_gpr destination, struct x86_mem source)
{
    x86_encoder_form_emit_mem(writer, x86_encoder_form_sized((uint8_t)(operation << 3 | 2), size, destination), source);
}

static struct x86_encoder_form unary_form(enum x86_unary operation, enum x86_size size)
{
    if (operation == X86_INC || operation == X86_DEC)
        return x86_encoder_form_extended(0xfe, size, operation == X86_DEC);
    return x86_encoder_form_extended(0xf6, size, (uint8_t)operation);
}

void x86_unary_reg(struct code_writer *writer, enum x86_unary operation, enum x86_size size, enum x86_gpr reg)
{
    x86_encoder_form_emit_reg(writer, unary_form(operation, size), reg);
}

void x86_unary_mem(struct code_writer *writer, enum x86_unary operation, enum x86_size size, struct x86_mem memory)
{
    x86_encoder_form_emit_mem(writer, unary_form(operation, size), memory);
}
