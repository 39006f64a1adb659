/* SPDX-License-Identifier: MIT */
#include "unwind/stack_memory.h"

#include "unwind/unwind_rule.h"

#include <stdatomic.h>

void stack_memory_init(struct stack_memory *memory)
{
    memory->generation = 0;
    memory->count = memory->pointer_count = 0;
    memory->is_whole = false;
    /* No stack pointer is the same. */
    memory->sp[0] = UINT64_MAX;
}

/* How a frame differs from what is in the stack now: 0 if it does not. Writes its pc. */
static inline uint64_t repeat_frame(const uint64_t *pc, const uint64_t *sp, uint64_t *pc_out)
{
    *pc_out = *pc;
    return stack_word(*sp - UNWIND_WORD) ^ *pc;
}

/* The frame is the innermost, of at most four, that is not what it was. */
static uint32_t find_changed(const struct stack_memory *memory, uint32_t frame)
{
    while (frame > 1 && stack_word(memory->sp[frame] - UNWIND_WORD) == memory->pc[frame])
        frame--;
    return frame;
}

/* The same for pointers that were read, of frames outside of `frame`. */
static uint32_t find_changed_pointer(const struct stack_memory *memory, uint32_t frame)
{
    for (uint32_t i = memory->pointer_count; i-- > 0;)
        if (memory->pointers[i].frame < frame && stack_word(memory->pointers[i].place) != memory->pointers[i].value)
            return memory->pointers[i].frame;
    return 0;
}

uint32_t stack_memory_repeat(const struct stack_memory *memory, uint32_t frame, uint32_t count, uint64_t *pcs_out)
{
    /* By pointers, downwards: nothing but loads is left to do for each. */
    const uint64_t *pc = &memory->pc[frame - 1], *sp = &memory->sp[frame - 1];

    /* Four at a time: the reads do not depend on each other, so the CPU does them side by side. */
    for (; count >= 4; count -= 4, pc -= 4, sp -= 4, pcs_out += 4) {
        uint64_t difference = repeat_frame(pc, sp, pcs_out) | repeat_frame(pc - 1, sp - 1, pcs_out + 1) |
                              repeat_frame(pc - 2, sp - 2, pcs_out + 2) | repeat_frame(pc - 3, sp - 3, pcs_out + 3);

        if (difference != 0)
            return find_changed(memory, (uint32_t)(pc - memory->pc));
    }
    for (; count > 0; count--, pc--, sp--, pcs_out++)
        if (repeat_frame(pc, sp, pcs_out) != 0)
            return (uint32_t)(pc - memory->pc);
    return memory->pointer_count == 0 ? 0 : find_changed_pointer(memory, frame);
}

/* Whether what is farther out depends on the pointer that a frame has, if it does on the one that its caller has. */
static inline bool needs_pointer(uint32_t rule, bool caller_does)
{
    enum unwind_kind kind = unwind_rule_kind(rule);

    return kind == UNWIND_SP ? caller_does & (unwind_rule_pointer_bytes(rule) == 0) : kind != UNWIND_END;
}

/* The pointer of the frame outside of that of a note, if the note's frame had kept it. */
static inline void note_pointer(struct stack_memory *memory, uint32_t rule, uint32_t frame)
{
    uint64_t pointer_bytes = unwind_rule_pointer_bytes(rule);

    if (pointer_bytes != 0 && frame > 0)
        memory->pointers[memory->pointer_count++] =
            (struct stack_pointer_word){memory->sp[frame] - pointer_bytes, memory->fp[frame], frame};
}

void stack_memory_update(struct stack_memory *memory, uint32_t kept, uint32_t note_count, const uint64_t *pcs,
                         bool is_whole)
{
    /* Of what lies behind the outermost frame nothing is known. */
    bool is_needed = kept == 0 || memory->fp_mask[kept] != 0;
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
            note_pointer(memory, rule, frame);
        is_needed = needs_pointer(rule, is_needed);
        frame++;
        memory->pc[frame] = pcs[i];
        memory->sp[frame] = memory->notes.sp[i];
        *stack_memory_place(memory, memory->notes.sp[i]) = (uint8_t)frame;
        memory->fp[frame] = memory->notes.fp[i];
        memory->fp_mask[frame] = 0 - (uint64_t)is_needed;
    }
    atomic_signal_fence(memory_order_seq_cst);
    memory->count = frame;
}
