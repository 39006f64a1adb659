/* SPDX-License-Identifier: MIT */
#include "unwind/stack_memory.h"

#include "unwind/unwind_rule.h"

#include <stdatomic.h>

static inline uint64_t word_at(uint64_t address)
{
    return *(const volatile uint64_t *)(uintptr_t)address;
}

void stack_memory_init(struct stack_memory *memory)
{
    memory->generation = 0;
    memory->count = memory->pointer_count = 0;
    memory->is_whole = false;
    /* No stack pointer is larger, and none is the same. */
    memory->sp[0] = UINT64_MAX;
}

/* The innermost frame, of those outside of `frame`, that is not what it was. */
static uint32_t find_changed(const struct stack_memory *memory, uint32_t frame, uint32_t last)
{
    uint32_t changed = 0;

    for (uint32_t i = frame - 1; i > last && changed == 0; i--)
        if (word_at(memory->sp[i] - UNWIND_WORD) != memory->pc[i])
            changed = i;
    for (uint32_t i = 0; i < memory->pointer_count && memory->pointers[i].frame < frame; i++)
        if (memory->pointers[i].frame > changed && word_at(memory->pointers[i].place) != memory->pointers[i].value)
            changed = memory->pointers[i].frame;
    /* Something was, so it is not none. */
    return changed == 0 ? 1 : changed;
}

uint32_t stack_memory_repeat(const struct stack_memory *memory, uint32_t frame, uint32_t count, uint64_t *pcs_out)
{
    uint32_t last = count < frame - 1 ? frame - 1 - count : 0;
    uint64_t difference = 0;

    /* Without a branch for each word: the reads do not depend on each other, so the CPU does them side by side. */
    for (uint32_t i = frame - 1; i > last; i--) {
        uint64_t pc = memory->pc[i];

        difference |= word_at(memory->sp[i] - UNWIND_WORD) ^ pc;
        *pcs_out++ = pc;
    }
    for (uint32_t i = 0; i < memory->pointer_count && memory->pointers[i].frame < frame; i++)
        difference |= word_at(memory->pointers[i].place) ^ memory->pointers[i].value;
    return difference == 0 ? 0 : find_changed(memory, frame, last);
}

/* Whether what is farther out depends on the pointer that a frame has, if it does on the one that its caller has. */
static inline bool needs_pointer(uint32_t rule, bool caller_does)
{
    switch (unwind_rule_kind(rule)) {
    case UNWIND_SP:
        return caller_does && unwind_rule_pointer_bytes(rule) == 0;
    case UNWIND_END:
        return false;
    default:
        return true;
    }
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
        const struct stack_note *note = &memory->notes[i];

        if (is_needed)
            note_pointer(memory, note->rule, frame);
        is_needed = needs_pointer(note->rule, is_needed);
        frame++;
        memory->pc[frame] = pcs[i];
        memory->sp[frame] = note->sp;
        memory->fp[frame] = note->fp;
        memory->fp_mask[frame] = is_needed ? UINT64_MAX : 0;
    }
    atomic_signal_fence(memory_order_seq_cst);
    memory->count = frame;
}
