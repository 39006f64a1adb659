/* SPDX-License-Identifier: MIT */
/*
 * The way back from relocated code: for every instruction of the copy, which original instruction it stands for and
 * what has to be undone for the registers to be what they would be there. Signal handlers, unwinders and debuggers need
 * it. Memory is the caller's. Usable inside the target; reading is signal-safe.
 */
#ifndef GAIT_ARCH_X86_64_ISA_RELOCATION_MAP_H
#define GAIT_ARCH_X86_64_ISA_RELOCATION_MAP_H

#include "base/address.h"

#include <stddef.h>

/* A register whose original value is kept in memory: on the stack at rsp + place, or in the slot number place. */
struct x86_saved_register {
    uint8_t gpr; /* X86_GPR_NONE for none */
    uint8_t place;
};

/*
 * How the original registers follow from those in the copy. rsp and rcx come first, from the registers as they are;
 * what is saved is read by the copy's rsp and put in place last, and may be rsp itself. All zero with X86_GPR_NONE:
 * nothing.
 */
struct x86_undo {
    struct x86_saved_register saved[2]; /* read these from memory */
    uint8_t sp_from;                    /* rsp is what this register holds, or X86_GPR_NONE */
    uint8_t is_rcx_next : 1;            /* rcx is the original address of the next instruction */
    uint8_t is_start : 1;               /* no matter of undoing: the copy of an instruction begins here */
    uint16_t sp_add;                    /* else rsp is this much more */
};

struct x86_relocation_point {
    struct app_pc app_pc;
    uint32_t cache_offset; /* from the start of the copy; valid up to the next point */
    struct x86_undo undo;
};

struct x86_relocation_map {
    struct x86_relocation_point *points; /* ordered by cache_offset */
    uint32_t count;
    uint32_t capacity;
    struct cache_pc cache_start;
    uint64_t cache_size; /* known, and not 0, when the copy is complete */
};

/* Begins an empty map over the caller's points. */
void x86_relocation_map_init(struct x86_relocation_map *map, struct x86_relocation_point *points, uint32_t capacity);

/* The point that a place in the copy belongs to, or NULL outside of a complete copy. */
const struct x86_relocation_point *x86_relocation_map_find(const struct x86_relocation_map *map, struct cache_pc pc);

/* Where the copy of the instruction at an original address begins; -ENOENT if none does. */
__attribute__((warn_unused_result)) int x86_relocation_map_start(const struct x86_relocation_map *map,
                                                                 struct app_pc app_pc, struct cache_pc *pc_out);

#endif
