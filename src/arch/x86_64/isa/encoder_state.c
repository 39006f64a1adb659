/* SPDX-License-Identifier: MIT */
/*
 * The forms of instructions that save and restore state. All but xsavec are group 15 of the opcodes, told apart by
 * modrm. Invariant: the 64-bit forms are written, which keep all of rip in the saved state. No lock: a writer belongs
 * to one thread. encoder_form.c turns forms into bytes.
 */
#include "arch/x86_64/isa/encoder_state.h"

#include "arch/x86_64/isa/encoder_failure.h"
#include "arch/x86_64/isa/encoder_form.h"

#define GROUP_15 0xae

void x86_state_mem(struct code_writer *writer, enum x86_state operation, struct x86_mem memory)
{
    bool is_control_register = operation == X86_LDMXCSR || operation == X86_STMXCSR;
    struct x86_encoder_form form = {
        .map = X86_MAP_0F,
        .opcode = operation == X86_XSAVEC64 ? 0xc7 : GROUP_15,
        .extension = operation == X86_XSAVEC64 ? 4 : (uint8_t)operation,
        .size = is_control_register ? X86_SIZE_32 : X86_SIZE_64,
    };

    x86_encoder_form_emit_mem(writer, form, memory);
}

void x86_segment_base(struct code_writer *writer, enum x86_segment_base operation, enum x86_size size, enum x86_gpr reg)
{
    struct x86_encoder_form form = {
        .map = X86_MAP_0F,
        .opcode = GROUP_15,
        .prefix = 0xf3,
        .extension = (uint8_t)operation,
        .size = (uint8_t)size,
    };

    if (size != X86_SIZE_32 && size != X86_SIZE_64)
        x86_encoder_refuse(writer, "a segment base of less than 32 bits");
    x86_encoder_form_emit_reg(writer, form, reg);
}
