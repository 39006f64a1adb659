/* SPDX-License-Identifier: MIT */
/*
 * Jumps, calls and returns: to labels, to addresses, through registers and memory. A cache_pc is any place where code
 * really runs; to native code outside of the cache one goes by cache_pc_of(app.value), spelled out on purpose. See
 * encoder.h for the conventions.
 */
#ifndef GAIT_ARCH_X86_64_ISA_ENCODER_BRANCH_H
#define GAIT_ARCH_X86_64_ISA_ENCODER_BRANCH_H

#include "arch/x86_64/isa/encoder_operand.h"
#include "base/address.h"

struct code_writer;

/* How far a jump can go. What a fixed choice does not reach is the writer's sticky overflow. */
enum x86_reach {
    X86_REACH_AUTO,  /* short when the target is known and near enough, else near */
    X86_REACH_SHORT, /* 8-bit displacement, 2 bytes in all */
    X86_REACH_NEAR,  /* 32-bit displacement: the last 4 bytes of 5 (jmp) or 6 (jcc) */
};

void x86_jmp_label(struct code_writer *writer, struct x86_label *target, enum x86_reach reach);
void x86_jmp_pc(struct code_writer *writer, struct cache_pc target, enum x86_reach reach);
void x86_jcc_label(struct code_writer *writer, enum x86_condition condition, struct x86_label *target,
                   enum x86_reach reach);
void x86_jcc_pc(struct code_writer *writer, enum x86_condition condition, struct cache_pc target, enum x86_reach reach);

/* Calls always have a 32-bit displacement, the last 4 of their 5 bytes. */
void x86_call_label(struct code_writer *writer, struct x86_label *target);
void x86_call_pc(struct code_writer *writer, struct cache_pc target);

/* Jumps that count or look at rcx, as the opcodes count them. They are always short and leave the flags alone. */
enum x86_loop {
    X86_LOOPNE,
    X86_LOOPE,
    X86_LOOP,
    X86_JRCXZ,
};

/* The counter is rcx with X86_SIZE_64 and ecx with X86_SIZE_32. */
void x86_loop_label(struct code_writer *writer, enum x86_loop loop, enum x86_size counter, struct x86_label *target);

/* Begins a memory transaction that goes to target when it aborts; 32-bit displacement. x86_plain() has xend. */
void x86_xbegin_label(struct code_writer *writer, struct x86_label *target);
void x86_xbegin_pc(struct code_writer *writer, struct cache_pc target);

/* Through a register or an 8-byte pointer in memory. */
void x86_jmp_reg(struct code_writer *writer, enum x86_gpr target);
void x86_jmp_mem(struct code_writer *writer, struct x86_mem pointer);
void x86_call_mem(struct code_writer *writer, struct x86_mem pointer);

/*
 * To any address at all, taking no register: through a pointer that stands next to the instruction. The pointer is the
 * last 8 of 14 bytes (jmp) or 16 bytes (call, which returns behind the pointer by way of a short jump over it).
 */
void x86_jmp_absolute(struct code_writer *writer, struct cache_pc target);

/* The near form where it reaches, the absolute one where it does not. */
void x86_call_anywhere(struct code_writer *writer, struct cache_pc target);

/* Returns and then drops that many bytes of arguments. */
void x86_ret(struct code_writer *writer, uint16_t drop_bytes);

#endif
