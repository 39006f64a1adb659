/* SPDX-License-Identifier: MIT */
/*
 * The stacks that the kernel took with its events, by names: frames of the kernel by what the trace kept of it, frames
 * of programs by what was mapped there then. One thread at a time.
 */
#ifndef GAIT_VIEW_KERNEL_STACK_H
#define GAIT_VIEW_KERNEL_STACK_H

#include "trace/kernel_events.h"
#include "view/view_functions.h"

#define KERNEL_FRAME_NAME_BYTES 1024u

struct kernel_frame {
    uint64_t address;
    bool is_kernel;
    bool is_named;                        /* else the name is "[file]", or the address */
    uint64_t distance;                    /* from where the function begins; 0 where it is not known */
    const struct recorded_module *module; /* NULL: of the kernel, or nothing was there */
    char name[KERNEL_FRAME_NAME_BYTES];   /* of the function */
};

/* How many frames both stacks have together. */
static inline size_t kernel_stack_depth(const struct kernel_event *event)
{
    return event->kernel_frame_count + event->user_frame_count;
}

/* One of them, the innermost first: those of the kernel are inside of those of the program. */
void kernel_stack_frame(struct view_functions *functions, const struct kernel_sources *sources,
                        const struct kernel_event *event, size_t which, struct kernel_frame *frame_out);

/* As people write it: "vfs_read+0x12", "libc.so.6+0x12345" where there is no name, or the address alone. */
void kernel_frame_write(const struct kernel_frame *frame, char *text, size_t text_bytes);

/*
 * All of them, the innermost first, with ; between them: functions by their names alone, so that equal stacks are equal
 * texts. To be freed; NULL: there are none, or there is no memory.
 */
char *kernel_stack_write(struct view_functions *functions, const struct kernel_sources *sources,
                         const struct kernel_event *event);

#endif
