/* SPDX-License-Identifier: MIT */
/*
 * The trail of a block: for each place in its hot code, where the program is and how its registers follow from the
 * CPU's. Written while the block is translated, kept in a few bytes, read when a thread is met there.
 */
#ifndef GAIT_ARCH_X86_64_STALKER_TRAIL_H
#define GAIT_ARCH_X86_64_STALKER_TRAIL_H

#include "arch/x86_64/isa/registers.h"
#include "base/address.h"
#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_place;
struct gait_cpu_context;
struct stalker_thread;

/* Where the original pc is while an indirect branch is under way. */
enum trail_pc {
    TRAIL_PC_HERE,            /* the point's own */
    TRAIL_PC_IN_TARGET,       /* in the target register */
    TRAIL_PC_IN_TARGET_MINUS, /* in the target register, less the index register */
};

/* The registers that indirect branches take to look up their target. rcx, since jrcxz tests it without flags. */
#define TARGET_REGISTER X86_RCX
#define INDEX_REGISTER  X86_RDI
#define BRANCH_SET      ((x86_gpr_set)(X86_GPR_BIT(TARGET_REGISTER) | X86_GPR_BIT(INDEX_REGISTER)))

/* Callouts at one instruction that are told apart. */
#define TRAIL_CALLOUTS_MAX 31

/* Holds the position of events, where there are any, at the borders of all blocks. */
#define POSITION_REGISTER X86_R11

/* All zero: the program's registers are the CPU's. */
struct trail_state {
    x86_gpr_set homes;        /* these are in the thread's context */
    int8_t sp_add;            /* rsp is this much more than the CPU's */
    uint8_t pc;               /* enum trail_pc */
    uint8_t is_rcx_next;      /* rcx is the point's own pc */
    uint8_t scratch_register; /* 1 + the register that is in the thread's scratch slot */
    uint8_t callouts_done;    /* how many of those at the point's own pc were made */
};

struct trail_point {
    uint32_t cache_offset; /* from where the block's hot code begins, the landing included */
    int64_t app_offset;    /* from the block's start */
    struct trail_state state;
};

/* Turns points, ordered by cache_offset, into at most capacity bytes. Returns how many; 0: it takes more. */
size_t trail_encode(const struct trail_point *points, size_t count, uint8_t *bytes_out, size_t capacity);

/* The point that a place belongs to. False: none does. */
bool trail_find(const uint8_t *trail, size_t trail_bytes, uint32_t cache_offset, struct trail_point *point_out);

/*
 * Turns the registers that a thread has at a place in the block into the program's, the pc included. Where the position
 * of events is in a register, it goes to the thread's state. -ENOENT: the place has no trail.
 */
MUST_USE int x86_recover(struct stalker_thread *thread, const struct code_place *place, struct gait_cpu_context *cpu);

#endif
