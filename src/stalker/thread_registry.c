/* SPDX-License-Identifier: MIT */
/*
 * The segment base says which struct it might be, the map whose that is, if it is one at all: the program may have put
 * anything there. Threads and processes that a followed one made have its base, but another thread id.
 */
#include "stalker/thread_registry.h"

#include "base/hash_map.h"
#include "base/mutex.h"
#include "stalker/follow.h"
#include "stalker/stalker_gate.h"
#include "stalker/thread.h"

static struct mutex registry_lock;
static struct hash_map registry;
static atomic_bool is_ready; /* release: the map is; pairs with the acquire of readers */

static int add(struct stalker_thread *thread) REQUIRES(registry_lock)
{
    if (!atomic_load_explicit(&is_ready, memory_order_relaxed)) {
        int result = hash_map_init(&registry, 16);

        if (result != 0)
            return result;
        atomic_store_explicit(&is_ready, true, memory_order_release);
    }
    return hash_map_set(&registry, (uintptr_t)thread, (uint64_t)thread->tid);
}

int thread_registry_add(struct stalker_thread *thread)
{
    int result;

    mutex_lock(&registry_lock);
    result = add(thread);
    mutex_unlock(&registry_lock);
    return result;
}

void thread_registry_remove(struct stalker_thread *thread)
{
    mutex_lock(&registry_lock);
    hash_map_remove(&registry, (uintptr_t)thread);
    mutex_unlock(&registry_lock);
}

void thread_registry_deinit(void)
{
    mutex_lock(&registry_lock);
    if (atomic_exchange_explicit(&is_ready, false, memory_order_relaxed))
        hash_map_deinit(&registry);
    mutex_unlock(&registry_lock);
}

struct stalker_thread *thread_registry_current(void)
{
    uint64_t base, value;

    if (!atomic_load_explicit(&is_ready, memory_order_acquire))
        return NULL;
    base = stalker_base_get();
    if (base == 0 || !hash_map_lookup(&registry, base, &value))
        return NULL;
    /* Another thread's struct may be gone by now: it is not looked at. */
    return (int)value == stalker_current_tid() ? (struct stalker_thread *)(uintptr_t)base : NULL;
}

NO_THREAD_SAFETY_ANALYSIS void thread_registry_lock(void)
{
    mutex_lock(&registry_lock);
}

NO_THREAD_SAFETY_ANALYSIS void thread_registry_unlock(void)
{
    mutex_unlock(&registry_lock);
}
