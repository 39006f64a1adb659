/* SPDX-License-Identifier: MIT */
/*
 * Undoing one frame with all registers, as .eh_frame says it: for signal frames, realigned stacks and assembly that
 * the rules of unwind_rule.h cannot tell. Slow: microseconds. No locks, no memory but the caller's, no libc.
 */
#ifndef GAIT_UNWIND_FULL_UNWIND_H
#define GAIT_UNWIND_FULL_UNWIND_H

#include "base/attributes.h"
#include "elf/frame_expression.h"

struct arch_frame_registers;

/* Registers by .eh_frame's numbers. The return address' number stands for the pc. */
struct unwind_registers {
    uint64_t values[FRAME_REGISTERS];
    uint64_t known; /* a bit for each */
};

static inline bool unwind_registers_know(const struct unwind_registers *registers, uint32_t which)
{
    return registers->known >> which & 1;
}

static inline void unwind_registers_set(struct unwind_registers *registers, uint32_t which, uint64_t value)
{
    registers->values[which] = value;
    registers->known |= (uint64_t)1 << which;
}

/* How memory of the stack is read. */
struct unwind_memory {
    bool (*read)(void *context, uint64_t address, void *bytes_out, size_t size_bytes);
    void *context;
};

/* Its content does not matter. */
struct full_unwind_storage {
    struct frame_rows_storage rows;
    struct frame_row row;
};

/* What does not change from frame to frame. */
struct full_unwind {
    const struct arch_frame_registers *numbers;
    struct unwind_memory memory;
    struct full_unwind_storage *storage;
};

/*
 * Makes the registers those of the caller. `lookup_pc` is in the frame's code: the pc, or the byte before a return
 * address. 1: done; 0: there is no caller; -ENODATA: a register is needed that is not known; -EFAULT; -EPROTO.
 */
MUST_USE int full_unwind_step(const struct full_unwind *unwind, const struct eh_frame_entry *entry, uint64_t lookup_pc,
                              struct unwind_registers *registers);

#endif
