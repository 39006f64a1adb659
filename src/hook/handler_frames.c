/* SPDX-License-Identifier: MIT */
/* A handler is a call that returns to a restorer in the end, through those that jumped to it. No state, no lock. */
#include "hook/handler_frames.h"

#include "hook/hook_thread.h"
#include "hook/return_tracking.h"
#include "process/stack_scan.h"

#include <stdatomic.h>
#include <stddef.h>

void handler_frames_visit(int tid, uint64_t sp, const struct stack_scan *scan)
{
    struct hook_thread *thread = hook_thread_of(tid);
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
