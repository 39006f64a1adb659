/* SPDX-License-Identifier: MIT */
/*
 * What is called at an address stays as long as the engine: of a module that is gone, nobody comes there; of one that
 * is loaded in its place, the point is told which probe it is by now.
 */
#include "agent/probe_watch.h"

#include "agent/function_watch.h"
#include "agent/probe_set.h"
#include "base/slab.h"
#include "stalker/call_probe.h"
#include "stalker/thread.h"

#include <asm/errno.h>
#include <stdatomic.h>

/* An address where there is, or was, a probe. */
struct probed_place {
    struct probed_place *next;
    uint64_t address;
    struct set_probe *_Atomic probe;
};

static struct probe_watch {
    struct stalker_engine *engine;
    struct probed_place *points;
    struct slab memory;
} watch;

void probe_watch_begin(struct stalker_engine *engine)
{
    watch = (struct probe_watch){.engine = engine};
    slab_init(&watch.memory, 0);
}

void probe_watch_end(void)
{
    if (watch.engine == NULL)
        return;
    slab_deinit(&watch.memory);
    watch = (struct probe_watch){.engine = NULL};
}

/* A followed thread comes by. From translated code. */
static void passed(struct gait_cpu_context *cpu, void *data)
{
    const struct probed_place *point = data;
    struct stalker_thread *thread = stalker_thread_of(cpu);
    struct detail_lane *lane = function_watch_call_lane(thread);

    if (lane != NULL)
        /* Acquire: pairs with the release in arm. */
        probe_set_passed(atomic_load_explicit(&point->probe, memory_order_acquire), lane, cpu,
                         function_watch_depth(thread));
}

static struct probed_place *find_point(uint64_t address)
{
    struct probed_place *point = watch.points;

    while (point != NULL && point->address != address)
        point = point->next;
    return point;
}

static int make_point(struct set_probe *probe)
{
    struct probed_place *point = slab_allocate_zeroed(&watch.memory, sizeof(*point), _Alignof(struct probed_place));

    if (point == NULL)
        return -ENOMEM;
    point->address = set_probe_address(probe);
    atomic_store_explicit(&point->probe, probe, memory_order_relaxed);
    point->next = watch.points;
    watch.points = point;
    return call_probe_watch_inside(watch.engine, point->address, passed, point);
}

static int arm(void *context, struct set_probe *probe, uint64_t file_address)
{
    struct probed_place *point = find_point(set_probe_address(probe));

    (void)context;
    (void)file_address;
    if (point == NULL)
        return make_point(probe);
    atomic_store_explicit(&point->probe, probe, memory_order_release);
    return 0;
}

uint64_t probe_watch_add(const struct probe_search *search)
{
    uint64_t matched = probe_set_add(search, arm, NULL);

    probe_set_raise();
    return matched;
}
