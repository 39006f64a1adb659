/* SPDX-License-Identifier: MIT */
/*
 * The walk before of a thread: its frames, and where in the stack they were read from. A walk that comes to a frame
 * that is in here, with the same registers, need not work out the rest: if all words that were read then are unchanged,
 * so are the frames. No locks, no system calls, no libc; for one thread. A signal handler that interrupts it leaves it
 * alone.
 */
#ifndef GAIT_UNWIND_STACK_MEMORY_H
#define GAIT_UNWIND_STACK_MEMORY_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Frames that are remembered; deeper stacks are walked each time. */
#define STACK_MEMORY_FRAMES 254u

/* A frame pointer that was read from the stack, and that something farther out depends on. */
struct stack_pointer_word {
    uint64_t place;
    uint64_t value;
    uint32_t frame; /* whose pointer it is */
};

/* Frames of the walk that is under way that were not known before, the innermost first. */
struct stack_notes {
    uint64_t sp[STACK_MEMORY_FRAMES];
    uint64_t fp[STACK_MEMORY_FRAMES];
    uint64_t rule[STACK_MEMORY_FRAMES]; /* by which it is undone */
};

/* Frames are numbered from the outermost on, which is 1. Number 0 is there for loops to end at. */
struct stack_memory {
    uint64_t generation; /* of the modules */
    uint32_t count;      /* 0 also while it is changed */
    uint32_t pointer_count;
    bool is_whole; /* behind frame 1 there is nothing */
    uint64_t pc[STACK_MEMORY_FRAMES + 1];
    uint64_t sp[STACK_MEMORY_FRAMES + 1]; /* the pc was in the word below */
    uint64_t fp[STACK_MEMORY_FRAMES + 1];
    uint64_t fp_mask[STACK_MEMORY_FRAMES + 1]; /* 0: nothing farther out depends on it: it may be anything */
    struct stack_pointer_word pointers[STACK_MEMORY_FRAMES]; /* by frame */
    struct stack_notes notes;
};

void stack_memory_init(struct stack_memory *memory);

UNSANITIZED static inline uint64_t stack_word(uint64_t address)
{
    struct word {
        uint64_t bits;
    } __attribute__((packed, may_alias));

    /* Volatile: it is not the compiler's to know what is in the stack. */
    return ((const volatile struct word *)(uintptr_t)address)->bits;
}

/*
 * Where the memory has a frame, if at all: moves *frame towards 0. One whose caller is another one now is not worth
 * looking at closer.
 */
static inline bool stack_memory_has(const struct stack_memory *memory, uint64_t pc, uint64_t sp, uint64_t fp,
                                    uint32_t *frame)
{
    uint32_t at = *frame;

    while (memory->sp[at] < sp)
        at--;
    *frame = at;
    return memory->sp[at] == sp && memory->pc[at] == pc && ((memory->fp[at] ^ fp) & memory->fp_mask[at]) == 0 &&
           (at == 1 || stack_word(memory->sp[at - 1] - sizeof(uint64_t)) == memory->pc[at - 1]);
}

/*
 * Writes the addresses of `count` frames outside of one that is as it was, if they are, too; the stack must be
 * readable. 0: they are; else a frame that is not, and none inside of it is needed any more: what was written does not
 * count.
 */
uint32_t stack_memory_repeat(const struct stack_memory *memory, uint32_t frame, uint32_t count, uint64_t *pcs_out);

/*
 * Keeps frames 1 to `kept`, and has those of the notes, that many, behind them. `pcs` are their addresses. With kept ==
 * 0, is_whole says whether the outermost has no caller.
 */
void stack_memory_update(struct stack_memory *memory, uint32_t kept, uint32_t note_count, const uint64_t *pcs,
                         bool is_whole);

#endif
