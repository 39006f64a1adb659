/* SPDX-License-Identifier: MIT */
/* Set aside at most once for each time in the engine; put back on the way out. */
#include "stalker/vectors.h"

#include "base/memory_map.h"
#include "stalker/thread.h"

int vectors_prepare(struct stalker_thread *thread)
{
    void *storage;
    int result;

    if (thread->vectors != NULL)
        return 0;
    result = memory_map(vector_state_bytes(), &storage);
    if (result != 0)
        return result;
    vector_state_init(storage);
    thread->vectors = storage;
    return 0;
}

void vectors_set_aside(struct stalker_thread *thread)
{
    if (thread->vectors_saved)
        return;
    vector_state_save(thread->vectors);
    thread->vectors_saved = true;
}

void vectors_put_back(struct stalker_thread *thread)
{
    if (!thread->vectors_saved)
        return;
    vector_state_restore(thread->vectors);
    thread->vectors_saved = false;
}

bool vectors_find(const struct gait_cpu_context *context, uint64_t base, struct vector_state_place *place_out)
{
    const struct stalker_thread *thread =
        (const void *)((const char *)context - offsetof(struct stalker_thread, context));

    /* Only then there is a thread to be looked at. */
    if ((uintptr_t)thread != base)
        return false;
    *place_out = (struct vector_state_place){.area = thread->vectors, .is_in_cpu = !thread->vectors_saved};
    return true;
}
