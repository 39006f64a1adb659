/* SPDX-License-Identifier: MIT */
/* A handler is a call that returns to a restorer in the end, through those that jumped to it. No state, no lock. */
#include "hook/handler_frames.h"

#include "hook/hook_thread.h"
#include "hook/return_tracking.h"
#include "process/stack_scan.h"

#include <stdatomic.h>
#include <stddef.h>

static struct hook_thread *thread_with(int tid)
{
    struct hook_thread *thread;

    for (uint32_t i = 0; (thread = hook_thread_at(i)) != NULL; i++)
        if (thread->tid == (uint32_t)tid)
            return thread;
    return NULL;
}

void handler_frames_visit(int tid, uint64_t sp, const struct stack_scan *scan)
{
    struct hook_thread *thread = thread_with(tid);
    struct invocation_cursor cursor;
    const struct invocation *invocation;
    uint64_t last_slot = 0;

    if (thread == NULL)
        return;
    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((invocation = invocation_cursor_next(&cursor)) != NULL) {
        uint64_t slot = atomic_load_explicit(&invocation->slot, memory_order_relaxed);

        /* Of those that jumped to each other, the innermost one's landing is there. */
        if (slot != last_slot && stack_scan_is_restorer(scan, return_tracking_caller(thread, invocation)) &&
            return_tracking_is_under_way(thread, invocation, sp))
            stack_scan_frame(scan, slot);
        last_slot = slot;
    }
}
