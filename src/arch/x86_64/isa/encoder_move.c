/* SPDX-License-Identifier: MIT */
/*
 * The forms of instructions that move values. Invariant: none of them changes a flag, which is why a zero is moved and
 * never made by xor. No lock: a writer belongs to one thread. encoder_form.c turns forms into bytes.
 */
#include "arch/x86_64/isa/encoder_move.h"

#include "arch/x86_64/isa/encoder_failure.h"
#include "arch/x86_64/isa/encoder_form.h"
#include "base/code_writer.h"

void x86_mov_reg_reg(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, enum x86_gpr source)
{
    x86_encoder_form_emit_reg(writer, x86_encoder_form_sized(0x88, size, source), destination);
}

void x86_mov_reg_mem(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, struct x86_mem source)
{
    x86_encoder_form_emit_mem(writer, x86_encoder_form_sized(0x8a, size, destination), source);
}

void x86_mov_mem_reg(struct code_writer *writer, enum x86_size size, struct x86_mem destination, enum x86_gpr source)
{
    x86_encoder_form_emit_mem(writer, x86_encoder_form_sized(0x88, size, source), destination);
}

/* The form with the register in the opcode and an immediate of the operand's whole size. */
static void mov_whole_immediate(struct code_writer *writer, enum x86_size size, enum x86_gpr reg, uint64_t value)
{
    struct x86_encoder_form form = {
        .opcode = size == X86_SIZE_8 ? 0xb0 : 0xb8,
        .size = (uint8_t)size,
        .rm_is_byte = size == X86_SIZE_8,
        .immediate_size = (uint8_t)size,
        .immediate = value,
    };

    x86_encoder_form_emit_opcode_reg(writer, form, reg);
}

void x86_mov_reg_imm(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, uint64_t value)
{
    if (size != X86_SIZE_64) {
        mov_whole_immediate(writer, size, destination, value);
    } else if (value == (uint32_t)value) {
        mov_whole_immediate(writer, X86_SIZE_32, destination, value);
    } else if ((int64_t)value == (int32_t)value) {
        struct x86_encoder_form form = x86_encoder_form_extended(0xc6, size, 0);

        x86_encoder_form_emit_reg(writer, x86_encoder_form_immediate(form, sizeof(uint32_t), (int64_t)value),
                                  destination);
    } else {
        mov_whole_immediate(writer, size, destination, value);
    }
}

void x86_mov_mem_imm(struct code_writer *writer, enum x86_size size, struct x86_mem destination, int64_t value)
{
    struct x86_encoder_form form = x86_encoder_form_extended(0xc6, size, 0);
    int64_t immediate = x86_immediate_of_size(writer, size, value);

    x86_encoder_form_emit_mem(writer, x86_encoder_form_immediate(form, x86_immediate_size(size), immediate),
                              destination);
}

static void movabs(struct code_writer *writer, struct x86_encoder_form form, enum x86_segment segment, uint64_t address)
{
    if (segment != X86_SEGMENT_NONE)
        code_writer_put_u8(writer, x86_segment_prefix(segment));
    x86_encoder_form_emit_alone(writer, x86_encoder_form_immediate(form, sizeof(address), (int64_t)address));
}

void x86_movabs_load(struct code_writer *writer, enum x86_size size, enum x86_segment segment, uint64_t address)
{
    movabs(writer, x86_encoder_form_extended(0xa0, size, 0), segment, address);
}

void x86_movabs_store(struct code_writer *writer, enum x86_size size, enum x86_segment segment, uint64_t address)
{
    movabs(writer, x86_encoder_form_extended(0xa2, size, 0), segment, address);
}

static const struct extend_opcode {
    bool is_two_bytes;
    uint8_t opcode, source_size;
} extend_opcodes[] = {
    [X86_MOVZX_8] = {true, 0xb6, X86_SIZE_8},    [X86_MOVZX_16] = {true, 0xb7, X86_SIZE_16},
    [X86_MOVSX_8] = {true, 0xbe, X86_SIZE_8},    [X86_MOVSX_16] = {true, 0xbf, X86_SIZE_16},
    [X86_MOVSX_32] = {false, 0x63, X86_SIZE_32},
};

static struct x86_encoder_form extend_form(struct code_writer *writer, enum x86_extend extend, enum x86_size size,
                                           enum x86_gpr destination)
{
    const struct extend_opcode *opcode = &extend_opcodes[extend];

    if (size <= opcode->source_size)
        x86_encoder_refuse(writer, "an extension that extends nothing");
    return (struct x86_encoder_form){
        .is_two_bytes = opcode->is_two_bytes,
        .opcode = opcode->opcode,
        .size = (uint8_t)size,
        .reg = (uint8_t)destination,
        .rm_is_byte = opcode->source_size == X86_SIZE_8,
    };
}

void x86_extend_reg_reg(struct code_writer *writer, enum x86_extend extend, enum x86_size size,
                        enum x86_gpr destination, enum x86_gpr source)
{
    x86_encoder_form_emit_reg(writer, extend_form(writer, extend, size, destination), source);
}

void x86_extend_reg_mem(struct code_writer *writer, enum x86_extend extend, enum x86_size size,
                        enum x86_gpr destination, struct x86_mem source)
{
    x86_encoder_form_emit_mem(writer, extend_form(writer, extend, size, destination), source);
}

void x86_lea(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, struct x86_mem memory)
{
    struct x86_encoder_form form = {.opcode = 0x8d, .size = (uint8_t)size, .reg = (uint8_t)destination};

    if (size == X86_SIZE_8)
        x86_encoder_refuse(writer, "lea of 8 bits");
    x86_encoder_form_emit_mem(writer, form, x86_mem_segment(X86_SEGMENT_NONE, memory));
}

static bool is_32_or_64(enum x86_size size)
{
    return size == X86_SIZE_32 || size == X86_SIZE_64;
}

void x86_bswap(struct code_writer *writer, enum x86_size size, enum x86_gpr reg)
{
    struct x86_encoder_form form = {.is_two_bytes = true, .opcode = 0xc8, .size = (uint8_t)size};

    if (!is_32_or_64(size))
        x86_encoder_refuse(writer, "bswap of less than 32 bits");
    x86_encoder_form_emit_opcode_reg(writer, form, reg);
}

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

static struct x86_encoder_form exchange_form(enum x86_exchange exchange, enum x86_size size, enum x86_gpr source)
{
    static const uint8_t opcodes[] = {[X86_XCHG] = 0x86, [X86_XADD] = 0xc0, [X86_CMPXCHG] = 0xb0};
    struct x86_encoder_form form = x86_encoder_form_sized(opcodes[exchange], size, source);

    form.is_two_bytes = exchange != X86_XCHG;
    return form;
}

void x86_exchange_mem_reg(struct code_writer *writer, enum x86_exchange exchange, enum x86_size size,
                          struct x86_mem destination, enum x86_gpr source)
{
    x86_encoder_form_emit_mem(writer, exchange_form(exchange, size, source), destination);
}
