/* SPDX-License-Identifier: MIT */
#include "support/program_code.h"

#include "arch/x86_64/isa/encoder_form.h"
#include "base/code_writer.h"

void program_arithmetic(struct code_writer *writer, enum x86_arithmetic operation, enum x86_size size,
                        enum x86_gpr destination, enum x86_gpr source)
{
    x86_encoder_form_emit_reg(writer, x86_encoder_form_sized((uint8_t)(operation << 3), size, source), destination);
}

void program_arithmetic_mem(struct code_writer *writer, enum x86_arithmetic operation, enum x86_size size,
                            struct x86_mem destination, enum x86_gpr source)
{
    x86_encoder_form_emit_mem(writer, x86_encoder_form_sized((uint8_t)(operation << 3), size, source), destination);
}

void program_setcc(struct code_writer *writer, enum x86_condition condition, enum x86_gpr destination)
{
    struct x86_encoder_form form = {
        .is_two_bytes = true,
        .opcode = (uint8_t)(0x90 | condition),
        .rm_is_byte = true,
    };

    x86_encoder_form_emit_reg(writer, form, destination);
}

void program_call(struct code_writer *writer, enum x86_gpr target)
{
    x86_encoder_form_emit_reg(writer, (struct x86_encoder_form){.opcode = 0xff, .extension = 2}, target);
}

void program_loop(struct code_writer *writer, enum x86_loop loop, struct cache_pc target)
{
    code_writer_put_u8(writer, (uint8_t)(0xe0 | loop));
    code_writer_put_u8(writer, (uint8_t)(target.value - code_writer_pc(writer).value - 1));
}
