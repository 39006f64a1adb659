/* SPDX-License-Identifier: MIT */
#include "stalker/event_write.h"

#include "arch/engine.h"
#include "base/time_counter.h"
#include "stalker/code_cache.h"
#include "stalker/code_place.h"
#include "stalker/stalker_engine.h"
#include "stalker/thread.h"
#include "stalker/trail.h"

void event_write(struct stalker_thread *thread, uint32_t number, enum event_record record)
{
    uint8_t *place = (uint8_t *)(uintptr_t)thread->event_position;
    const struct follow_configuration *configuration = &thread->observed_cache->configuration;
    struct event_format format = event_format_of(configuration->events, configuration->times);
    uint64_t time;

    if (event_record_has_time(format, record)) {
        time = time_counter();
        __builtin_memcpy(place + event_time_offset(format, record), &time, sizeof(time));
    }
    /* Whoever reads the header finds all of the record. */
    __atomic_store_n((uint32_t *)(void *)place, event_header(number, record), __ATOMIC_RELEASE);
    thread->event_position += event_record_bytes(format, record);
}

void event_cut_at(struct stalker_thread *thread, uint64_t cache_pc)
{
    struct gait_cpu_context cpu = thread->context;
    struct callout_behind behind = thread->behind;
    struct code_place place;

    if (thread->events == NULL || !code_cache_place_at(thread->cache, cache_pc_of(cache_pc), &place))
        return;
    cpu.pc = cache_pc;
    cpu.registers[thread->engine->machine->place->position_register] = thread->event_position;
    if (trail_recover(thread, &place, &cpu) != 0)
        thread->event_cut.is_cut = false;
    thread->behind = behind;
}

void event_write_cut(struct stalker_thread *thread)
{
    const struct event_cut *cut = &thread->event_cut;

    if (!cut->is_cut || thread->events == NULL)
        return;
    thread->event_cut.is_cut = false;
    if (!cut->is_told && cut->ran_bytes == 0)
        return;
    if (!cut->is_told)
        event_write(thread, cut->block, EVENT_RECORD_BLOCK);
    event_write(thread, cut->ran_bytes, EVENT_RECORD_CUT);
}
