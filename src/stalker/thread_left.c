/* SPDX-License-Identifier: MIT */
#include "stalker/thread_left.h"

#include "base/counters.h"
#include "base/time_counter.h"
#include "process/memory_probe.h"
#include "stalker/code_cache.h"
#include "stalker/thread.h"

void thread_left_tell(const struct stalker_thread *thread, enum ring_left_reason reason)
{
    struct ring_left left = {
        .time = time_counter(),
        .pc = thread->context.pc,
        .tid = (uint32_t)thread->tid,
        .reason = reason,
    };
    struct ring_region *ring = thread->observed_cache->configuration.ring;

    counter_add(COUNTER_threads_left, 1);
    if (ring == NULL)
        return;
    left.code_bytes = (uint32_t)memory_probe_copy_some(left.pc, left.code, sizeof(left.code));
    left_log_add(ring, &left);
}
