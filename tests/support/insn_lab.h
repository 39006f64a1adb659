/* SPDX-License-Identifier: MIT */
/*
 * A place to run single instructions: code, data, stack and constant memory at low addresses, so that 32-bit, absolute
 * and pc-relative addresses can reach them, a code runner, and random states in which most instructions find what they
 * need. One lab in a process, used by the thread that made it; see code_runner.h for its limits.
 */
#ifndef GAIT_TESTS_INSN_LAB_H
#define GAIT_TESTS_INSN_LAB_H

#include "arch/x86_64/isa/decoder.h"
#include "support/arena.h"
#include "support/code_runner.h"

struct random;

#define INSN_LAB_CODE     0x21340000ull
#define INSN_LAB_PC       (INSN_LAB_CODE + 0x800)
#define INSN_LAB_DATA     0x21740000ull
#define INSN_LAB_STACK    0x21b40000ull
#define INSN_LAB_CONSTANT 0x21f40000ull /* cannot be written */
#define INSN_LAB_GS_BASE  0x40ull

enum { INSN_LAB_ARENA_BYTES = 0x4000, INSN_LAB_CODE_BYTES = 0x1000 };

/* The trap numbers of the CPU that matter here. */
enum insn_trap {
    INSN_TRAP_BREAKPOINT = 3,
    INSN_TRAP_INVALID_OPCODE = 6,
    INSN_TRAP_PROTECTION = 13,
    INSN_TRAP_PAGE = 14,
};

struct insn_lab {
    struct code_runner runner;
    struct arena code, data, stack, constant;
    uint64_t fs_base;
};

int insn_lab_init(struct insn_lab *lab) __attribute__((warn_unused_result));
void insn_lab_deinit(struct insn_lab *lab);

/* Puts 32 bytes at INSN_LAB_PC. Around them is nothing but int3. */
void insn_lab_place(struct insn_lab *lab, const uint8_t bytes[32]);

/*
 * Draws a state to start the instruction in. Its memory operands lie in the span, which is one of the lab's arenas, if
 * the encoding allows that; other registers are as machine_state_randomize draws them.
 */
void insn_lab_draw_state(const struct insn_lab *lab, const struct x86_insn *insn, struct arena_span span,
                         struct random *random, struct machine_state *state_out);

/* Whether the run went through the instruction and ended at the int3 behind it. */
bool insn_lab_completed(const struct run_result *result, const struct x86_insn *insn);

#endif
