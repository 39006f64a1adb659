/* SPDX-License-Identifier: MIT */
/*
 * Stacks of programs without frame pointers, out of what the kernel copies when a place is passed: the registers, and
 * the stack from the stack pointer on. Frames are undone by .eh_frame of the files that the process has mapped, and by
 * frame pointers where nobody describes the code, as that of runtimes that make theirs. One thread at a time.
 */
#ifndef GAIT_KERNEL_STACK_UNWINDER_H
#define GAIT_KERNEL_STACK_UNWINDER_H

#include "kernel/file_frames.h"
#include "kernel/mapped_files.h"
#include "trace/kernel_layout.h"
#include "unwind/full_unwind.h"

/* Of what is copied: enough for all but the deepest stacks. */
#define STACK_COPY_BYTES_MAX (60u << 10)

struct stack_unwinder {
    struct mapped_files files;
    struct known_frames frames;
    struct full_unwind_storage storage;
    uint64_t pcs[KERNEL_FRAMES_MAX];
    uint64_t cut_count; /* stacks that went on behind what was copied, or where no way led on */
};

/* As the kernel copied them. */
struct copied_stack {
    const uint64_t *registers; /* those of stack_unwinder_mask(), by number */
    size_t register_count;
    const uint8_t *bytes; /* from the stack pointer on */
    size_t size_bytes;
};

/* The registers that are needed, as perf numbers them; 0: this CPU's stacks cannot be undone yet. */
uint64_t stack_unwinder_mask(void);

/* -ENOMEM. */
MUST_USE int stack_unwinder_create(struct stack_unwinder **unwinder_out);
void stack_unwinder_destroy(struct stack_unwinder *unwinder);

/* The addresses, the innermost first, in unwinder->pcs until the next time. How many; 0: nothing was copied. */
size_t stack_unwinder_walk(struct stack_unwinder *unwinder, uint32_t pid, const struct copied_stack *stack);

#endif
