/* SPDX-License-Identifier: MIT */
/*
 * The forms of the BMI2 instructions. They share VEX and differ in the opcode and its mandatory prefix; mulx writes its
 * low half to the register in VEX and its high half to the one in modrm. Invariant: no flag changes. No lock: a writer
 * belongs to one thread. encoder_form.c turns forms into bytes.
 */
#include "arch/x86_64/isa/encoder_flag_free.h"

#include "arch/x86_64/isa/encoder_failure.h"
#include "arch/x86_64/isa/encoder_form.h"

static struct x86_encoder_form bmi_form(struct code_writer *writer, enum x86_size size, enum x86_gpr destination)
{
    if (size != X86_SIZE_32 && size != X86_SIZE_64)
        x86_encoder_refuse(writer, "BMI2 on less than 32 bits");
    return (struct x86_encoder_form){.vex = X86_VEX_128, .size = (uint8_t)size, .reg = (uint8_t)destination};
}

static struct x86_encoder_form rorx_form(struct code_writer *writer, enum x86_size size, enum x86_gpr destination,
                                         uint8_t count)
{
    struct x86_encoder_form form = bmi_form(writer, size, destination);

    form.map = X86_MAP_0F3A;
    form.prefix = 0xf2;
    form.opcode = 0xf0;
    return x86_encoder_form_immediate(form, 1, count);
}

void x86_rorx_reg_reg(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, enum x86_gpr source,
                      uint8_t count)
{
    x86_encoder_form_emit_reg(writer, rorx_form(writer, size, destination, count), source);
}

void x86_rorx_reg_mem(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, struct x86_mem source,
                      uint8_t count)
{
    x86_encoder_form_emit_mem(writer, rorx_form(writer, size, destination, count), source);
}

static struct x86_encoder_form three_operand_form(struct code_writer *writer, enum x86_flag_free operation,
                                                  enum x86_size size, struct x86_flag_free_registers registers)
{
    static const struct {
        uint8_t prefix, opcode;
    } opcodes[] = {
        [X86_SHLX] = {0x66, 0xf7}, [X86_SHRX] = {0xf2, 0xf7}, [X86_SARX] = {0xf3, 0xf7},
        [X86_PDEP] = {0xf2, 0xf5}, [X86_PEXT] = {0xf3, 0xf5}, [X86_MULX] = {0xf2, 0xf6},
    };
    struct x86_encoder_form form = bmi_form(writer, size, registers.destination);

    form.map = X86_MAP_0F38;
    form.prefix = opcodes[operation].prefix;
    form.opcode = opcodes[operation].opcode;
    form.vex_register = (uint8_t)registers.with;
    return form;
}

void x86_flag_free_reg(struct code_writer *writer, enum x86_flag_free operation, enum x86_size size,
                       struct x86_flag_free_registers registers, enum x86_gpr source)
{
    x86_encoder_form_emit_reg(writer, three_operand_form(writer, operation, size, registers), source);
}

void x86_flag_free_mem(struct code_writer *writer, enum x86_flag_free operation, enum x86_size size,
                       struct x86_flag_free_registers registers, struct x86_mem source)
{
    x86_encoder_form_emit_mem(writer, three_operand_form(writer, operation, size, registers), source);
}
