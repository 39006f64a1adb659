/* SPDX-License-Identifier: MIT */
/*
 * Two callouts: where a resolver begins, and where it returns to, which is a few places in the dynamic linker. Which
 * thread is in which resolver is noted between them, without a lock: a resolver calls nobody who would ask for one.
 */
#include "agent/resolver_watch.h"

#include "arch/engine.h"
#include "base/hash_map.h"
#include "base/slab.h"
#include "gait/stalker.h"
#include "stalker/call_probe.h"
#include "stalker/program_memory.h"
#include "stalker/stalker_engine.h"
#include "stalker/thread.h"

#include <asm/errno.h>
#include <stdatomic.h>

/* Threads that are in a resolver at the same time. */
#define PENDING_MAX 32u

/* A pattern that means the function. */
struct meaning {
    struct meaning *next;
    const struct agent_pattern *pattern;
};

struct resolver {
    struct meaning *_Atomic meanings;
};

/* A thread in a resolver. */
struct pending {
    _Atomic int tid; /* 0: the place is free */
    uint64_t sp;     /* where the return address is */
    const struct resolver *resolver;
};

static struct resolver_watch {
    struct stalker_engine *engine;
    void (*found)(const struct agent_pattern *pattern, uint64_t address);
    struct hash_map resolvers; /* by address */
    struct slab memory;
    bool is_used;
    struct pending pending[PENDING_MAX];
} watch;

void resolver_watch_begin(struct stalker_engine *engine,
                          void (*found)(const struct agent_pattern *pattern, uint64_t address))
{
    watch = (struct resolver_watch){.engine = engine, .found = found};
    slab_init(&watch.memory, 0);
    watch.is_used = hash_map_init(&watch.resolvers, 16) == 0;
}

void resolver_watch_end(void)
{
    if (watch.is_used)
        hash_map_deinit(&watch.resolvers);
    slab_deinit(&watch.memory);
    watch = (struct resolver_watch){.is_used = false};
}

static unsigned call_slot_bytes(void)
{
    return watch.engine->machine->registers->call_slot_bytes;
}

static struct stalker_thread *thread_of(struct gait_cpu_context *cpu)
{
    return (struct stalker_thread *)(void *)((uint8_t *)cpu - offsetof(struct stalker_thread, context));
}

static struct pending *find_pending(int tid)
{
    for (unsigned i = 0; i < PENDING_MAX; i++)
        if (atomic_load_explicit(&watch.pending[i].tid, memory_order_relaxed) == tid)
            return &watch.pending[i];
    return NULL;
}

/* The thread's own place; it may have left a resolver in another way than by returning. */
static struct pending *obtain_pending(int tid)
{
    struct pending *pending = find_pending(tid);

    for (unsigned i = 0; i < PENDING_MAX && pending == NULL; i++) {
        int nobody = 0;

        if (atomic_compare_exchange_strong(&watch.pending[i].tid, &nobody, tid))
            pending = &watch.pending[i];
    }
    return pending;
}

/* Behind a call of a resolver, or of something else. */
static void returned(struct gait_cpu_context *cpu, void *unused)
{
    struct pending *pending = find_pending(thread_of(cpu)->tid);
    uint64_t address = gait_cpu_result(cpu);
    const struct resolver *resolver;

    (void)unused;
    if (pending == NULL || gait_cpu_stack_pointer(cpu) != pending->sp + call_slot_bytes())
        return;
    resolver = pending->resolver;
    atomic_store_explicit(&pending->tid, 0, memory_order_release);
    if (address == 0 || !program_memory_is_readable(address, 1))
        return;
    for (const struct meaning *meaning = atomic_load_explicit(&resolver->meanings, memory_order_acquire);
         meaning != NULL; meaning = meaning->next)
        watch.found(meaning->pattern, address);
}

/* A resolver begins. */
static void entered(struct gait_cpu_context *cpu, void *data)
{
    uint64_t sp = gait_cpu_stack_pointer(cpu);
    struct pending *pending;
    int result;

    if (call_slot_bytes() != 0 && !program_memory_is_readable(sp, call_slot_bytes()))
        return;
    result = call_probe_watch(watch.engine, gait_cpu_return_address(cpu), returned, NULL);
    pending = result == 0 || result == -EEXIST ? obtain_pending(thread_of(cpu)->tid) : NULL;
    if (pending == NULL)
        return;
    pending->sp = sp;
    pending->resolver = data;
}

static struct resolver *obtain_resolver(uint64_t address)
{
    struct resolver *resolver;
    uint64_t value;

    if (hash_map_lookup(&watch.resolvers, address, &value))
        return (struct resolver *)(uintptr_t)value;
    resolver = slab_allocate_zeroed(&watch.memory, sizeof(*resolver), _Alignof(struct resolver));
    if (resolver == NULL || call_probe_watch(watch.engine, address, entered, resolver) != 0)
        return NULL;
    return hash_map_insert(&watch.resolvers, address, (uintptr_t)resolver) == 0 ? resolver : NULL;
}

bool resolver_watch_add(const struct agent_pattern *pattern, uint64_t address)
{
    struct resolver *resolver = watch.is_used ? obtain_resolver(address) : NULL;
    struct meaning *first, *made;

    if (resolver == NULL)
        return false;
    first = atomic_load_explicit(&resolver->meanings, memory_order_relaxed);
    for (const struct meaning *meaning = first; meaning != NULL; meaning = meaning->next)
        if (meaning->pattern == pattern)
            return true;
    made = slab_allocate_zeroed(&watch.memory, sizeof(*made), _Alignof(struct meaning));
    if (made == NULL)
        return false;
    *made = (struct meaning){first, pattern};
    /* Release: pairs with the acquire in returned. */
    atomic_store_explicit(&resolver->meanings, made, memory_order_release);
    return true;
}
