/* SPDX-License-Identifier: MIT */
/*
 * A module's .eh_frame, copied from memory, and the table that it gives. The module may be corrupt or go at any time:
 * that is an error, never a fault. No locks, no libc; callable in signal handlers and inside the target.
 */
#ifndef GAIT_UNWIND_MODULE_FRAMES_H
#define GAIT_UNWIND_MODULE_FRAMES_H

#include "unwind/unwind_table.h"

struct module_frames {
    uint64_t base; /* where its ELF header is */
    struct unwind_table table;
    size_t copy_bytes;          /* of table.frame.bytes */
    struct module_frames *next; /* the owner's */
};

/* Errors as of unwind_modules_add. */
MUST_USE int module_frames_create(uint64_t base, const struct arch_frame_registers *registers,
                                  struct module_frames **frames_out);
void module_frames_destroy(struct module_frames *frames);

/* Whether what is in memory is still what the copy was made from. */
bool module_frames_are_current(const struct module_frames *frames);

#endif
