/* SPDX-License-Identifier: MIT */
/*
 * The forms of integer arithmetic. The eight operations of two operands differ in three bits of the opcode, or of
 * modrm next to an immediate. Invariant: of several forms, the shortest is written. No lock: a writer belongs to one
 * thread. encoder_form.c turns forms into bytes.
 */
#include "arch/x86_64/isa/encoder_arithmetic.h"

#include "arch/x86_64/isa/encoder_failure.h"
#include "arch/x86_64/isa/encoder_form.h"

static struct x86_encoder_form store_form(enum x86_arithmetic operation, enum x86_size size, enum x86_gpr source)
{
    return x86_encoder_form_sized((uint8_t)(operation << 3), size, source);
}

void x86_arithmetic_reg_reg(struct code_writer *writer, enum x86_arithmetic operation, enum x86_size size,
                            enum x86_gpr destination, enum x86_gpr source)
{
    x86_encoder_form_emit_reg(writer, store_form(operation, size, source), destination);
}

void x86_arithmetic_mem_reg(struct code_writer *writer, enum x86_arithmetic operation, enum x86_size size,
                            struct x86_mem destination, enum x86_gpr source)
{
    x86_encoder_form_emit_mem(writer, store_form(operation, size, source), destination);
}

void x86_arithmetic_reg_mem(struct code_writer *writer, enum x86_arithmetic operation, enum x86_size size,
                            enum x86_gpr destination, struct x86_mem source)
{
    x86_encoder_form_emit_mem(writer, x86_encoder_form_sized((uint8_t)(operation << 3 | 2), size, destination), source);
}

static bool fits_sign_extended_byte(enum x86_size size, int64_t immediate)
{
    return size != X86_SIZE_8 && immediate == (int8_t)immediate;
}

static struct x86_encoder_form immediate_form(enum x86_arithmetic operation, enum x86_size size, int64_t immediate)
{
    if (fits_sign_extended_byte(size, immediate))
        return x86_encoder_form_immediate(x86_encoder_form_extended(0x83, size, (uint8_t)operation), 1, immediate);
    return x86_encoder_form_immediate(x86_encoder_form_extended(0x80, size, (uint8_t)operation),
                                      x86_immediate_size(size), immediate);
}

void x86_arithmetic_reg_imm(struct code_writer *writer, enum x86_arithmetic operation, enum x86_size size,
                            enum x86_gpr destination, int64_t value)
{
    int64_t immediate = x86_immediate_of_size(writer, size, value);

    if (destination == X86_RAX && !fits_sign_extended_byte(size, immediate)) {
        struct x86_encoder_form form = x86_encoder_form_extended((uint8_t)(operation << 3 | 4), size, 0);

        x86_encoder_form_emit_alone(writer, x86_encoder_form_immediate(form, x86_immediate_size(size), immediate));
        return;
    }
    x86_encoder_form_emit_reg(writer, immediate_form(operation, size, immediate), destination);
}

void x86_arithmetic_mem_imm(struct code_writer *writer, enum x86_arithmetic operation, enum x86_size size,
                            struct x86_mem destination, int64_t value)
{
    int64_t immediate = x86_immediate_of_size(writer, size, value);

    x86_encoder_form_emit_mem(writer, immediate_form(operation, size, immediate), destination);
}

void x86_test_reg_reg(struct code_writer *writer, enum x86_size size, enum x86_gpr left, enum x86_gpr right)
{
    x86_encoder_form_emit_reg(writer, x86_encoder_form_sized(0x84, size, right), left);
}

void x86_test_mem_reg(struct code_writer *writer, enum x86_size size, struct x86_mem left, enum x86_gpr right)
{
    x86_encoder_form_emit_mem(writer, x86_encoder_form_sized(0x84, size, right), left);
}

static struct x86_encoder_form test_immediate_form(struct code_writer *writer, uint8_t opcode, enum x86_size size,
                                                   int64_t value)
{
    struct x86_encoder_form form = x86_encoder_form_extended(opcode, size, 0);

    return x86_encoder_form_immediate(form, x86_immediate_size(size), x86_immediate_of_size(writer, size, value));
}

void x86_test_reg_imm(struct code_writer *writer, enum x86_size size, enum x86_gpr left, int64_t value)
{
    if (left == X86_RAX)
        x86_encoder_form_emit_alone(writer, test_immediate_form(writer, 0xa8, size, value));
    else
        x86_encoder_form_emit_reg(writer, test_immediate_form(writer, 0xf6, size, value), left);
}

void x86_test_mem_imm(struct code_writer *writer, enum x86_size size, struct x86_mem left, int64_t value)
{
    x86_encoder_form_emit_mem(writer, test_immediate_form(writer, 0xf6, size, value), left);
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

static struct x86_encoder_form imul_form(struct code_writer *writer, enum x86_size size, enum x86_gpr destination)
{
    if (size == X86_SIZE_8)
        x86_encoder_refuse(writer, "imul of 8 bits with two registers");
    return (struct x86_encoder_form){
        .map = X86_MAP_0F,
        .opcode = 0xaf,
        .size = (uint8_t)size,
        .reg = (uint8_t)destination,
    };
}

void x86_imul_reg_reg(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, enum x86_gpr source)
{
    x86_encoder_form_emit_reg(writer, imul_form(writer, size, destination), source);
}

void x86_imul_reg_mem(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, struct x86_mem source)
{
    x86_encoder_form_emit_mem(writer, imul_form(writer, size, destination), source);
}

void x86_imul_reg_reg_imm(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, enum x86_gpr source,
                          int64_t value)
{
    int64_t immediate = x86_immediate_of_size(writer, size, value);
    bool is_short = fits_sign_extended_byte(size, immediate);
    struct x86_encoder_form form = imul_form(writer, size, destination);

    form.map = X86_MAP_PRIMARY;
    form.opcode = is_short ? 0x6b : 0x69;
    x86_encoder_form_emit_reg(
        writer, x86_encoder_form_immediate(form, is_short ? 1 : x86_immediate_size(size), immediate), source);
}
