/* SPDX-License-Identifier: MIT */
/*
 * The x86-64 encoder: typed functions that each write one instruction through a code_writer. Include this for all of
 * them, or the encoder_* header of one family.
 *
 * Names: x86_<what>_<destination>_<source>, where reg is a general register, mem a struct x86_mem, imm an immediate,
 * label a struct x86_label and pc an address of code. Where instructions differ only in what they compute, one function
 * takes an enum: x86_unary_mem(writer, X86_INC, X86_SIZE_64, counter).
 *
 * Operands: destination before source, as in Intel's manuals. The size is that of the operands; X86_SIZE_32 on a
 * register clears its upper half, smaller sizes keep the rest of it. 8-bit registers are al to r15b.
 *
 * Flags: nothing that is not asked for. A move never becomes an xor, a sum never becomes an inc. What leaves the flags
 * alone says so: moves, pushes and pops, and not, xchg, loop.
 *
 * Lengths: the shortest form that does what was asked for, except where a fixed one is promised (near jumps).
 *
 * Errors: emitters return void. No room, a displacement out of reach and an operand that does not exist all end as the
 * writer's sticky overflow (code_writer_overflowed), after which nothing more is written; an instruction is written
 * whole or not at all. A writer that may be far from a target asks address_fits_rel32() before, or uses
 * x86_call_anywhere(): more room does not bring it closer. Operands that do not exist (rsp as an index, an extension to
 * the same size) are our own bugs, asserted in debug builds.
 *
 * All of it takes no lock, no memory and no system call and is usable inside the target, from any thread that owns its
 * writer.
 */
#ifndef GAIT_ARCH_X86_64_ISA_ENCODER_H
#define GAIT_ARCH_X86_64_ISA_ENCODER_H

#include "arch/x86_64/isa/encoder_arithmetic.h"
#include "arch/x86_64/isa/encoder_branch.h"
#include "arch/x86_64/isa/encoder_move.h"
#include "arch/x86_64/isa/encoder_operand.h"
#include "arch/x86_64/isa/encoder_padding.h"
#include "arch/x86_64/isa/encoder_plain.h"
#include "arch/x86_64/isa/label.h"

#endif
