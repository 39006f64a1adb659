/* SPDX-License-Identifier: MIT */
/*
 * The forms of exchanging instructions. No lock: a writer belongs to one thread. encoder_form.c turns forms into bytes.
 */
#include "arch/x86_64/isa/encoder_exchange.h"

#include "arch/x86_64/isa/encoder_form.h"

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
