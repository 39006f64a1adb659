/* SPDX-License-Identifier: MIT */
/*
 * The forms of exchanging instructions. Invariant: none, each call stands alone but for x86_lock, whose byte belongs to
 * the instruction after it. No lock: a writer belongs to one thread. encoder_form.c turns forms into bytes.
 */
#include "arch/x86_64/isa/encoder_exchange.h"

#include "arch/x86_64/isa/encoder_form.h"
#include "base/code_writer.h"

static struct x86_encoder_form exchange_form(enum x86_exchange exchange, enum x86_size size, enum x86_gpr source)
{
    static const uint8_t opcodes[] = {[X86_XCHG] = 0x86, [X86_XADD] = 0xc0, [X86_CMPXCHG] = 0xb0};
    struct x86_encoder_form form = x86_encoder_form_sized(opcodes[exchange], size, source);

    form.map = exchange == X86_XCHG ? X86_MAP_PRIMARY : X86_MAP_0F;
    return form;
}

/* The accumulator has a form without modrm, which for itself would be nop: in 32 bits that does not clear the rest. */
static bool has_accumulator_form(enum x86_size size, enum x86_gpr destination, enum x86_gpr source)
{
    return size != X86_SIZE_8 && destination != source && (destination == X86_RAX || source == X86_RAX);
}

void x86_exchange_reg_reg(struct code_writer *writer, enum x86_exchange exchange, enum x86_size size,
                          enum x86_gpr destination, enum x86_gpr source)
{
    if (exchange == X86_XCHG && has_accumulator_form(size, destination, source)) {
        struct x86_encoder_form form = {.opcode = 0x90, .size = (uint8_t)size};

        x86_encoder_form_emit_opcode_reg(writer, form, destination == X86_RAX ? source : destination);
        return;
    }
    x86_encoder_form_emit_reg(writer, exchange_form(exchange, size, source), destination);
}

void x86_exchange_mem_reg(struct code_writer *writer, enum x86_exchange exchange, enum x86_size size,
                          struct x86_mem destination, enum x86_gpr source)
{
    x86_encoder_form_emit_mem(writer, exchange_form(exchange, size, source), destination);
}

void x86_cmpxchg16b(struct code_writer *writer, struct x86_mem destination)
{
    struct x86_encoder_form form = {.map = X86_MAP_0F, .opcode = 0xc7, .size = X86_SIZE_64, .extension = 1};

    x86_encoder_form_emit_mem(writer, form, destination);
}

void x86_lock(struct code_writer *writer)
{
    code_writer_put_u8(writer, 0xf0);
}
