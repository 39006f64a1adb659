/* SPDX-License-Identifier: MIT */
/*
 * The values of the expressions in .eh_frame: DWARF's small stack machine, as far as frames need it. Nothing is
 * trusted, the number of steps is bounded. No system calls, no locks, no libc; usable anywhere.
 */
#ifndef GAIT_ELF_FRAME_EXPRESSION_H
#define GAIT_ELF_FRAME_EXPRESSION_H

#include "elf/frame_rows.h"

/* What expressions may look at. */
struct frame_machine {
    const uint64_t *registers; /* FRAME_REGISTERS of them */
    uint64_t known_registers;  /* a bit for each that has a value */
    /* Reads up to 8 bytes. False: it cannot be read. */
    bool (*read)(void *context, uint64_t address, void *bytes_out, size_t size_bytes);
    void *context;
};

/*
 * With `initial` on the stack first, if it is not NULL, as rules of registers want it: the frame. -EPROTO: makes no
 * sense, or is not known here; -EFAULT: memory that it needs cannot be read;
 * -ENODATA: a register has no value.
 */
MUST_USE int frame_expression_evaluate(struct byte_range expression, const struct frame_machine *machine,
                                       const uint64_t *initial, uint64_t *value_out);

#endif
