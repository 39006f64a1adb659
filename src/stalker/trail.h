/* SPDX-License-Identifier: MIT */
/*
 * The trail of a block: for each place in its hot code, where the program is and how its registers follow from the
 * CPU's. Written while the block is translated, kept in a few bytes, read when a thread is met there.
 */
#ifndef GAIT_STALKER_TRAIL_H
#define GAIT_STALKER_TRAIL_H

#include "base/address.h"
#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct callout_behind;
struct code_cache;
struct code_place;
struct gait_cpu_context;
struct stalker_thread;

/* Where the original pc is while an indirect branch is under way. */
enum trail_pc {
    TRAIL_PC_HERE,      /* the point's own */
    TRAIL_PC_IN_TARGET, /* in the target register */
    TRAIL_PC_BRANCHED,  /* the same, of a branch that has done all but go there */
    TRAIL_PC_IN_CHECK,  /* as the CPU's landing_target says */
};

/* Callouts at one instruction that are told apart. */
#define TRAIL_CALLOUTS_MAX 31

/* A set of general registers, by their numbers in a gait_cpu_context: bit n is register n. */
typedef uint32_t register_set;

static inline register_set register_bit(unsigned number)
{
    return (register_set)1 << number;
}

/* What was told of the block, where somebody wants to know of blocks. */
enum trail_progress {
    TRAIL_TOLD,   /* that it runs */
    TRAIL_UNTOLD, /* nothing yet */
    TRAIL_LEFT,   /* its last instruction is done, though the pc may be in the same block again */
};

/* Registers that are taken for what a transformer put. */
enum trail_taking {
    TRAIL_TAKING_NONE,
    TRAIL_TAKING_BEGUN, /* where the point begins the registers are at home, and still the program's */
    TRAIL_TAKING_DONE,  /* they only have to be given back */
};

/* All zero: the program's registers are the CPU's. No byte of it is padding: states are compared as a whole. */
struct trail_state {
    register_set homes;     /* these are in the thread's context */
    int32_t sp_add;         /* the stack pointer is this much more than the CPU's; of TRAIL_PC_BRANCHED: was, before the
                               branch */
    uint8_t pc;             /* enum trail_pc */
    uint8_t is_pc_register; /* the CPU's pc_register is the point's own pc */
    uint8_t scratch_register; /* 1 + the register that is in the thread's scratch slot */
    uint8_t position_back;    /* bytes of an event's record that are not valid yet; a multiple of 4, at most 32 */
    uint8_t progress;         /* enum trail_progress */
    uint8_t callouts_done;    /* how many of those at the point's own pc were made, and pieces of code run */
    uint8_t taking;           /* enum trail_taking */
    uint8_t is_counted;       /* changes where counts were made at the point's own pc */
};

struct trail_point {
    uint32_t cache_offset; /* from where the block's hot code begins, the landing included */
    bool is_copy;          /* from here on both sides go on alike: instructions that stand there as they were */
    int64_t app_offset;    /* from the block's start */
    struct trail_state state;
};

static const struct trail_state trail_plain = {0};

_Static_assert(sizeof(struct trail_state) == 16, "the state of a point has padding");

static inline bool trail_state_is_same(const struct trail_state *a, const struct trail_state *b)
{
    return __builtin_memcmp(a, b, sizeof(*a)) == 0;
}

/* Whether a point is covered by the one before it, so that it adds nothing. */
static inline bool trail_point_follows(const struct trail_point *last, const struct trail_point *point)
{
    uint32_t step = last->is_copy ? point->cache_offset - last->cache_offset : 0;

    return last->is_copy == point->is_copy && point->app_offset - last->app_offset == step &&
           trail_state_is_same(&last->state, &point->state);
}

/* No point takes more: the head, 5 and 10 bytes for the steps, and 15 for the state. */
#define TRAIL_POINT_BYTES_MAX 32

/* Turns points, ordered by cache_offset, into at most capacity bytes. Returns how many; 0: it takes more. */
size_t trail_encode(const struct trail_point *points, size_t count, uint8_t *bytes_out, size_t capacity);

/* The point that a place belongs to; of a copy, the point for that very place. False: none does. */
bool trail_find(const uint8_t *trail, size_t trail_bytes, uint32_t cache_offset, struct trail_point *point_out);

/* The point from which an indirect branch goes to its target. False: there is none. */
bool trail_find_branch(const uint8_t *trail, size_t trail_bytes, struct trail_point *point_out);

/*
 * Turns the registers that a thread has at a place in translated code into the program's, the pc included. Where the
 * position of events is in a register, it goes to the thread's state, as does what was told of the block. -ENOENT:
 * nothing is known of that place; the engine is met behind it. Signal-safe.
 */
MUST_USE int trail_recover(struct stalker_thread *thread, const struct code_place *place, struct gait_cpu_context *cpu);

/* How many callouts at the program's pc, and pieces of code put there, are done at a place. */
uint8_t trail_callouts_done_at(const struct code_place *place, struct cache_pc pc);

/*
 * Where a block of that cache can be entered at its start with behind->done of them done, and whether the event of the
 * block is recorded by then. False: nowhere.
 */
bool trail_find_behind(const struct code_cache *cache, const struct code_place *place, struct callout_behind *behind,
                       bool *is_told_out);

/*
 * A thread is on its way to cpu->pc by the indirect branch that ends the block of its `exit`, with all registers as
 * they are behind it. Where the CPU refuses to go there, it raises its signal at the branch, and translated code finds
 * out behind it: puts the pc and the stack pointer back to before the branch, and returns true. What a call pushed
 * stays below the stack pointer.
 */
bool trail_refuse_branch(const struct stalker_thread *thread, struct gait_cpu_context *cpu);

#endif
