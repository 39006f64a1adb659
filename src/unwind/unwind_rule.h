/* SPDX-License-Identifier: MIT */
/*
 * How one frame is undone, in 29 bits: enough for nearly all code. What does not fit is UNWIND_FULL, for which
 * full_unwind.h reads .eh_frame. No libc; usable anywhere.
 *
 *   bits 0-2     enum unwind_kind
 *   bits 3-16    the frame's distance from the register, in words; of UNWIND_PLT: from which byte on it is one word
 * more bits 17-28   how many words below the frame the caller's frame pointer is; 0: it is unchanged
 *
 * The return address is the word below the frame.
 */
#ifndef GAIT_UNWIND_UNWIND_RULE_H
#define GAIT_UNWIND_UNWIND_RULE_H

#include <stdint.h>

struct frame_row;
struct arch_frame_registers;

#define UNWIND_RULE_BITS 29
#define UNWIND_WORD      8u

enum unwind_kind {
    UNWIND_UNKNOWN, /* nothing is said about such an address */
    UNWIND_SP,      /* the frame is above the stack pointer */
    UNWIND_FP,      /* the frame is above the frame pointer */
    UNWIND_PLT,     /* one word above the stack pointer, two from some byte of each 16 on */
    UNWIND_END,     /* there is no caller */
    UNWIND_FULL,
};

static inline enum unwind_kind unwind_rule_kind(uint32_t rule)
{
    return (enum unwind_kind)(rule & 7);
}

static inline uint64_t unwind_rule_frame_bytes(uint32_t rule)
{
    return (uint64_t)(rule >> 3 & 0x3fff) * UNWIND_WORD;
}

static inline uint64_t unwind_rule_pointer_bytes(uint32_t rule)
{
    return (uint64_t)(rule >> 17 & 0xfff) * UNWIND_WORD;
}

static inline uint32_t unwind_rule(enum unwind_kind kind, uint64_t frame_words, uint64_t pointer_words)
{
    return (uint32_t)(kind | frame_words << 3 | pointer_words << 17);
}

/* The rule that a row amounts to. */
uint32_t unwind_rule_of(const struct frame_row *row, const struct arch_frame_registers *registers);

/* The rule for one address, where the row's rule depends on it. */
uint32_t unwind_rule_at(uint32_t rule, uint64_t pc);

#endif
