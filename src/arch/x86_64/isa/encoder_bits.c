/* SPDX-License-Identifier: MIT */
/*
 * The forms of instructions on bits. Invariant: a shift by one takes its shorter form. No lock: a writer belongs to one
 * thread. encoder_form.c turns forms into bytes.
 */
#include "arch/x86_64/isa/encoder_bits.h"

#include "arch/x86_64/isa/encoder_failure.h"
#include "arch/x86_64/isa/encoder_form.h"

static struct x86_encoder_form shift_form(enum x86_shift shift, enum x86_size size, uint8_t count)
{
    if (count == 1)
        return x86_encoder_form_extended(0xd0, size, (uint8_t)shift);
    return x86_encoder_form_immediate(x86_encoder_form_extended(0xc0, size, (uint8_t)shift), 1, count);
}

void x86_shift_reg_imm(struct code_writer *writer, enum x86_shift shift, enum x86_size size, enum x86_gpr reg,
                       uint8_t count)
{
    x86_encoder_form_emit_reg(writer, shift_form(shift, size, count), reg);
}

void x86_shift_mem_imm(struct code_writer *writer, enum x86_shift shift, enum x86_size size, struct x86_mem memory,
                       uint8_t count)
{
    x86_encoder_form_emit_mem(writer, shift_form(shift, size, count), memory);
}

void x86_shift_reg_cl(struct code_writer *writer, enum x86_shift shift, enum x86_size size, enum x86_gpr reg)
{
    x86_encoder_form_emit_reg(writer, x86_encoder_form_extended(0xd2, size, (uint8_t)shift), reg);
}

void x86_shift_mem_cl(struct code_writer *writer, enum x86_shift shift, enum x86_size size, struct x86_mem memory)
{
    x86_encoder_form_emit_mem(writer, x86_encoder_form_extended(0xd2, size, (uint8_t)shift), memory);
}

/* Forms of the 0f map that have no 8-bit variant. */
static struct x86_encoder_form wide_form(struct code_writer *writer, uint8_t opcode, enum x86_size size)
{
    if (size == X86_SIZE_8)
        x86_encoder_refuse(writer, "no 8-bit form of this instruction");
    return (struct x86_encoder_form){.map = X86_MAP_0F, .opcode = opcode, .size = (uint8_t)size};
}

static struct x86_encoder_form bit_test_immediate_form(struct code_writer *writer, enum x86_bit_test operation,
                                                       enum x86_size size, uint8_t bit)
{
    struct x86_encoder_form form = wide_form(writer, 0xba, size);

    form.extension = (uint8_t)(4 | operation);
    return x86_encoder_form_immediate(form, 1, bit);
}

void x86_bit_test_reg_imm(struct code_writer *writer, enum x86_bit_test operation, enum x86_size size, enum x86_gpr reg,
                          uint8_t bit)
{
    x86_encoder_form_emit_reg(writer, bit_test_immediate_form(writer, operation, size, bit), reg);
}

void x86_bit_test_mem_imm(struct code_writer *writer, enum x86_bit_test operation, enum x86_size size,
                          struct x86_mem memory, uint8_t bit)
{
    x86_encoder_form_emit_mem(writer, bit_test_immediate_form(writer, operation, size, bit), memory);
}

void x86_bit_test_reg_reg(struct code_writer *writer, enum x86_bit_test operation, enum x86_size size, enum x86_gpr reg,
                          enum x86_gpr bit)
{
    struct x86_encoder_form form = wide_form(writer, (uint8_t)(0xa3 | operation << 3), size);

    form.reg = (uint8_t)bit;
    x86_encoder_form_emit_reg(writer, form, reg);
}

static struct x86_encoder_form bit_count_form(struct code_writer *writer, enum x86_bit_count operation,
                                              enum x86_size size, enum x86_gpr destination)
{
    static const struct {
        uint8_t prefix, opcode;
    } opcodes[] = {
        [X86_POPCNT] = {0xf3, 0xb8}, [X86_TZCNT] = {0xf3, 0xbc}, [X86_LZCNT] = {0xf3, 0xbd},
        [X86_BSF] = {0, 0xbc},       [X86_BSR] = {0, 0xbd},
    };
    struct x86_encoder_form form = wide_form(writer, opcodes[operation].opcode, size);

    form.prefix = opcodes[operation].prefix;
    form.reg = (uint8_t)destination;
    return form;
}

void x86_bit_count_reg_reg(struct code_writer *writer, enum x86_bit_count operation, enum x86_size size,
                           enum x86_gpr destination, enum x86_gpr source)
{
    x86_encoder_form_emit_reg(writer, bit_count_form(writer, operation, size, destination), source);
}

void x86_bit_count_reg_mem(struct code_writer *writer, enum x86_bit_count operation, enum x86_size size,
                           enum x86_gpr destination, struct x86_mem source)
{
    x86_encoder_form_emit_mem(writer, bit_count_form(writer, operation, size, destination), source);
}

static struct x86_encoder_form crc32_form(enum x86_size size, enum x86_gpr destination)
{
    struct x86_encoder_form form = x86_encoder_form_sized(0xf0, size, destination);

    form.map = X86_MAP_0F38;
    form.prefix = 0xf2;
    form.reg_is_byte = false;
    return form;
}

void x86_crc32_reg_reg(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, enum x86_gpr source)
{
    x86_encoder_form_emit_reg(writer, crc32_form(size, destination), source);
}

void x86_crc32_reg_mem(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, struct x86_mem source)
{
    x86_encoder_form_emit_mem(writer, crc32_form(size, destination), source);
}
