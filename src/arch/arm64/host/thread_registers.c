/* SPDX-License-Identifier: MIT */
/*
 * The general registers of an arm64 thread: x0 to x30, sp, pc, pstate. Before the kernel shows them it has moved the pc
 * of an interrupted system call back to its `svc`, and forgotten the call.
 */
#include "arch/thread_registers.h"

#include "base/attributes.h"

#define SP_WORD    31
#define PC_WORD    32
#define WORD_COUNT 34

size_t thread_registers_size_bytes(void)
{
    return WORD_COUNT * sizeof(uint64_t);
}

UNSANITIZED uint64_t thread_registers_pc(const struct thread_registers *registers)
{
    return registers->words[PC_WORD];
}

UNSANITIZED void thread_registers_set_pc(struct thread_registers *registers, uint64_t pc)
{
    registers->words[PC_WORD] = pc;
}

uint64_t thread_registers_sp(const struct thread_registers *registers)
{
    return registers->words[SP_WORD];
}

void thread_registers_set_sp(struct thread_registers *registers, uint64_t sp)
{
    registers->words[SP_WORD] = sp;
}

bool thread_registers_in_system_call(const struct thread_registers *registers)
{
    (void)registers;
    return false;
}

void thread_registers_take_restart(struct thread_registers *registers)
{
    (void)registers;
}

/* The first argument, which the result has replaced, is not among the registers: it cannot be undone. */
enum thread_restart thread_registers_restart(const struct thread_registers *registers)
{
    (void)registers;
    return THREAD_RESTART_NONE;
}

bool thread_registers_undo_interruption(struct thread_registers *registers)
{
    (void)registers;
    return false;
}
