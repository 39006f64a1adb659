/* SPDX-License-Identifier: MIT */
/*
 * What an entry of .eh_frame says, worked out: rows, each for a range of addresses, with where the caller's registers
 * are. "The frame" (CFA) is the value that the stack pointer had before the call. Nothing is trusted; bounded time, no
 * memory but the caller's. No system calls, no locks, no libc; usable anywhere.
 */
#ifndef GAIT_ELF_FRAME_ROWS_H
#define GAIT_ELF_FRAME_ROWS_H

#include "elf/eh_frame.h"

/* Registers with larger numbers are not general ones, and are not needed. */
#define FRAME_REGISTERS 34u

enum frame_rule_kind {
    FRAME_SAME,          /* the register has still the value that it had in the caller */
    FRAME_UNDEFINED,     /* it is not known; of the return address: there is no caller */
    FRAME_AT_OFFSET,     /* it is in memory, at the frame plus the offset */
    FRAME_IS_OFFSET,     /* it is the frame plus the offset */
    FRAME_IN_REGISTER,   /* it is in another register; also of the frame: plus the offset */
    FRAME_AT_EXPRESSION, /* it is in memory, at what the expression gives */
    FRAME_IS_EXPRESSION, /* it is what the expression gives */
};

struct frame_rule {
    enum frame_rule_kind kind;
    uint32_t other_register;
    int64_t offset;
    struct byte_range expression;
};

struct frame_row {
    uint64_t start;
    uint64_t end;
    struct frame_rule frame; /* FRAME_IN_REGISTER or FRAME_IS_EXPRESSION; FRAME_UNDEFINED: it was not said */
    struct frame_rule registers[FRAME_REGISTERS];
};

#define FRAME_ROWS_REMEMBERED_MAX 8

/* What working them out needs: too much for the small stacks that this may run on. Its content does not matter. */
struct frame_rows_storage {
    struct frame_row row;
    struct frame_row initial; /* behind the common program */
    struct frame_row remembered[FRAME_ROWS_REMEMBERED_MAX];
};

/*
 * Calls take for each row, by address; true: no more. -EPROTO: the program makes no sense from somewhere on; what was
 * told before is good.
 */
MUST_USE int frame_rows_visit(const struct eh_frame_entry *entry, struct frame_rows_storage *storage,
                              bool (*take)(void *context, const struct frame_row *row), void *context);

#endif
