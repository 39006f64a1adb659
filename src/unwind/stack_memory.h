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
#include "unwind/unwind_rule.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Frames that are remembered; deeper stacks are walked each time. */
#define STACK_MEMORY_FRAMES 254u
#define STACK_MEMORY_PLACES 1024u

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

/* One frame, in half of a cache line: all of it is looked at together. */
struct stack_frame {
    uint64_t pc;
    uint64_t sp; /* the pc was in the word below */
    uint64_t fp;
    uint64_t fp_mask; /* 0: nothing farther out depends on it: it may be anything */
} __attribute__((aligned(32)));

/* Frames are numbered from the outermost on, which is 1. Number 0 stands for none, and looks like no other. */
struct stack_memory {
    uint64_t generation; /* of the modules */
    uint32_t count;      /* 0 also while it is changed */
    uint32_t pointer_count;
    bool is_whole; /* behind frame 1 there is nothing */
    struct stack_frame frames[STACK_MEMORY_FRAMES + 1];
    struct stack_pointer_word pointers[STACK_MEMORY_FRAMES]; /* by frame */
    uint8_t places[STACK_MEMORY_PLACES]; /* where in the stack a frame is, if it is in here at all */
    struct stack_notes notes;
};

void stack_memory_init(struct stack_memory *memory);

UNSANITIZED static inline uint64_t stack_word(uint64_t address)
{
    struct stack_word {
        uint64_t bits;
    } __attribute__((packed, may_alias));

    /* Volatile: it is not the compiler's to know what is in the stack. */
    return ((const volatile struct stack_word *)(uintptr_t)address)->bits;
}

static inline uint8_t *stack_memory_place(struct stack_memory *memory, uint64_t sp)
{
    return &memory->places[sp / sizeof(uint64_t) % STACK_MEMORY_PLACES];
}

/*
 * The number of a frame, if the memory has it, and it is not above `last`; else 0. One whose caller is another one now
 * is not worth looking at closer. No loop, and few branches: what they would do is nothing that a CPU can guess.
 */
static inline uint32_t stack_memory_find(struct stack_memory *memory, uint64_t pc, uint64_t sp, uint64_t fp,
                                         uint32_t last)
{
    uint32_t at = *stack_memory_place(memory, sp);
    const struct stack_frame *frame = &memory->frames[at];
    uint64_t difference = (frame->sp ^ sp) | (frame->pc ^ pc) | ((frame->fp ^ fp) & frame->fp_mask);

    if (difference != 0 || at > last)
        return 0;
    return at <= 1 || stack_word(frame[-1].sp - sizeof(uint64_t)) == frame[-1].pc ? at : 0;
}

/* What follows is inline because it is a fifth of a walk, and the walk a function of which all is in registers. */

/* How a frame differs from what is in the stack now: 0 if it does not. Writes its pc. */
static inline uint64_t stack_memory_repeat_frame(const struct stack_frame *frame, uint64_t *pc_out)
{
    *pc_out = frame->pc;
    return stack_word(frame->sp - UNWIND_WORD) ^ frame->pc;
}

/* The frame is the innermost, of at most four, that is not what it was. */
static inline uint32_t stack_memory_find_changed(const struct stack_memory *memory, uint32_t frame)
{
    while (frame > 1 && stack_word(memory->frames[frame].sp - UNWIND_WORD) == memory->frames[frame].pc)
        frame--;
    return frame;
}

/* The same for pointers that were read, of frames outside of `frame`. */
static inline uint32_t stack_memory_find_changed_pointer(const struct stack_memory *memory, uint32_t frame)
{
    for (uint32_t i = memory->pointer_count; i-- > 0;)
        if (memory->pointers[i].frame < frame && stack_word(memory->pointers[i].place) != memory->pointers[i].value)
            return memory->pointers[i].frame;
    return 0;
}

/*
 * Writes the addresses of `count` frames outside of one that is as it was, if they are, too; the stack must be
 * readable. 0: they are; else a frame that is not, and none inside of it is needed any more: what was written does not
 * count.
 */
static inline uint32_t stack_memory_repeat(const struct stack_memory *memory, uint32_t frame, uint32_t count,
                                           uint64_t *pcs_out)
{
    /* By a pointer, downwards: nothing but loads is left to do for each. */
    const struct stack_frame *at = &memory->frames[frame - 1];

    /* Four at a time: the reads do not depend on each other, so the CPU does them side by side. */
    for (; count >= 4; count -= 4, at -= 4, pcs_out += 4) {
        uint64_t difference = stack_memory_repeat_frame(at, pcs_out) | stack_memory_repeat_frame(at - 1, pcs_out + 1) |
                              stack_memory_repeat_frame(at - 2, pcs_out + 2) |
                              stack_memory_repeat_frame(at - 3, pcs_out + 3);

        if (difference != 0)
            return stack_memory_find_changed(memory, (uint32_t)(at - memory->frames));
    }
    for (; count > 0; count--, at--, pcs_out++)
        if (stack_memory_repeat_frame(at, pcs_out) != 0)
            return (uint32_t)(at - memory->frames);
    return memory->pointer_count == 0 ? 0 : stack_memory_find_changed_pointer(memory, frame);
}

/* Whether what is farther out depends on the pointer that a frame has, if it does on the one that its caller has. */
static inline bool stack_memory_needs_pointer(uint32_t rule, bool caller_does)
{
    enum unwind_kind kind = unwind_rule_kind(rule);

    return kind == UNWIND_SP ? caller_does & (unwind_rule_pointer_bytes(rule) == 0) : kind != UNWIND_END;
}

/* The pointer of the frame outside of that of a note, if the note's frame had kept it. */
static inline void stack_memory_note_pointer(struct stack_memory *memory, uint32_t rule, uint32_t frame)
{
    uint64_t pointer_bytes = unwind_rule_pointer_bytes(rule);

    if (pointer_bytes != 0 && frame > 0)
        memory->pointers[memory->pointer_count++] =
            (struct stack_pointer_word){memory->frames[frame].sp - pointer_bytes, memory->frames[frame].fp, frame};
}

/*
 * Keeps frames 1 to `kept`, and has those of the notes, that many, behind them. `pcs` are their addresses. With kept ==
 * 0, is_whole says whether the outermost has no caller.
 */
static inline void stack_memory_update(struct stack_memory *memory, uint32_t kept, uint32_t note_count,
                                       const uint64_t *pcs, bool is_whole)
{
    /* Of what lies behind the outermost frame nothing is known. */
    bool is_needed = kept == 0 || memory->frames[kept].fp_mask != 0;
    uint32_t frame = kept;

    memory->count = 0;
    atomic_signal_fence(memory_order_seq_cst);
    if (kept + note_count > STACK_MEMORY_FRAMES)
        return;
    if (kept == 0)
        memory->is_whole = is_whole;
    /* That of the innermost frame that is kept depends on the frame inside of it, which is another one now. */
    while (memory->pointer_count > 0 && memory->pointers[memory->pointer_count - 1].frame >= kept)
        memory->pointer_count--;
    for (uint32_t i = note_count; i-- > 0;) {
        uint32_t rule = (uint32_t)memory->notes.rule[i];

        if (is_needed)
            stack_memory_note_pointer(memory, rule, frame);
        is_needed = stack_memory_needs_pointer(rule, is_needed);
        frame++;
        memory->frames[frame] = (struct stack_frame){
            .pc = pcs[i],
            .sp = memory->notes.sp[i],
            .fp = memory->notes.fp[i],
            .fp_mask = 0 - (uint64_t)is_needed,
        };
        *stack_memory_place(memory, memory->notes.sp[i]) = (uint8_t)frame;
    }
    atomic_signal_fence(memory_order_seq_cst);
    memory->count = frame;
}

#endif
