/* SPDX-License-Identifier: MIT */
/* Several points are noted for each block; most of them follow from the one before, and add nothing. */
#include "stalker/block_draft.h"

#include "arch/engine.h"
#include "base/counters.h"
#include "process/file_code.h"
#include "stalker/stalker_engine.h"

/* Where the block's bytes are read: in place or, where they may change meanwhile, from a copy. */
static size_t find_source(struct translation *translation)
{
    struct block_draft *draft = translation->draft;
    const uint8_t *original = (const uint8_t *)(uintptr_t)translation->block->start.value;
    size_t available = translation_source_bytes(translation, &draft->is_checked);

    draft->is_checked |= translation->cache->engine->options.trust < 0;
    draft->source = original;
    if (!draft->is_checked)
        return available;
    if (available > sizeof(draft->copy))
        available = sizeof(draft->copy);
    __builtin_memcpy(draft->copy, original, available);
    draft->source = draft->copy;
    return available;
}

static inline void reset(struct translation *translation)
{
    struct block_draft *draft = translation->draft;
    const struct code_cache *cache = translation->cache;

    draft->point_count = 0;
    draft->homes = code_cache_has_events(cache) ? register_bit(cache->engine->machine->place->position_register) : 0;
    draft->ends_bad = false;
    draft->count_pending = 0;
    draft->callouts_done = 0;
    draft->is_counted = false;
}

size_t block_draft_begin(struct translation *translation)
{
    size_t available = find_source(translation);

    reset(translation);
    return available;
}

/* What is checked is compared with memory each time that it runs, so it has to be what is there. */
size_t block_draft_take_breakpoint_back(struct translation *translation, struct app_pc pc, size_t size_bytes)
{
    struct stalker_engine *engine = translation->cache->engine;
    struct block_draft *draft = translation->draft;
    uint64_t start = translation->block->start.value;
    size_t offset = pc.value - start, available;
    uint8_t bytes[8];

    if (draft->is_checked || size_bytes > sizeof(bytes) || !code_source_is_unwritten(&engine->source, pc) ||
        !file_code_behind_breakpoint(pc.value, bytes, size_bytes))
        return 0;
    available = translation_source_bytes(translation, &draft->is_checked);
    if (available > sizeof(draft->copy))
        available = sizeof(draft->copy);
    if (offset + size_bytes > available)
        return 0;
    if (draft->source != draft->copy)
        __builtin_memcpy(draft->copy, draft->source, available);
    __builtin_memcpy(draft->copy + offset, bytes, size_bytes);
    draft->source = draft->copy;
    counter_add(COUNTER_breakpoints_taken_back, 1);
    return available - offset;
}

void block_draft_begin_unknown(struct translation *translation)
{
    struct block_draft *draft = translation->draft;

    reset(translation);
    draft->count = 0;
    draft->is_checked = false;
    (void)event_plan_begin(translation);
    draft->is_bare = false;
}

/* The state with what holds for the block as far as it is written. */
static __attribute__((noinline)) struct trail_state complete_state(const struct block_draft *draft,
                                                                   struct app_pc app_pc, struct trail_state state)
{
    state.homes |= draft->homes;
    if (app_pc.value == draft->callout_pc.value)
        state.callouts_done = (uint8_t)draft->callouts_done;
    if (app_pc.value == draft->count_pc.value)
        state.is_counted = draft->is_counted;
    if (state.progress == TRAIL_TOLD && !draft->events.is_told)
        state.progress = TRAIL_UNTOLD;
    return state;
}

/* Several times for each block: a part of both that call it. */
static inline __attribute__((always_inline)) void add_point(struct translation *translation, struct app_pc app_pc,
                                                            bool is_copy, struct trail_state state)
{
    struct block_draft *draft = translation->draft;
    const struct block *block = translation->block;
    struct trail_point *point = &draft->points[draft->point_count];

    if (draft->point_count == DRAFT_POINTS_MAX) {
        translation->hot.overflowed = true;
        return;
    }
    if (!draft->is_bare)
        state = complete_state(draft, app_pc, state);
    point->cache_offset = (uint32_t)(code_writer_pc(&translation->hot).value - block_code(block).value);
    point->is_copy = is_copy;
    point->app_offset = (int64_t)(app_pc.value - block->start.value);
    point->state = state;
    if (draft->point_count == 0 || !trail_point_follows(point - 1, point))
        draft->point_count++;
}

void block_draft_note(struct translation *translation, struct app_pc app_pc, struct trail_state state)
{
    add_point(translation, app_pc, false, state);
}

void block_draft_note_copy(struct translation *translation, struct app_pc app_pc)
{
    add_point(translation, app_pc, true, trail_plain);
}

void block_draft_note_callout(struct translation *translation, struct app_pc pc, struct trail_state state)
{
    struct block_draft *draft = translation->draft;

    if (draft->callout_pc.value != pc.value)
        draft->callouts_done = 0;
    draft->callout_pc = pc;
    draft->is_bare = false;
    if (draft->callouts_done < TRAIL_CALLOUTS_MAX)
        draft->callouts_done++;
    block_draft_note(translation, pc, state);
}

void block_draft_note_counts(struct translation *translation, struct app_pc pc)
{
    struct block_draft *draft = translation->draft;

    draft->count_pc = pc;
    draft->is_bare = false;
    draft->is_counted = !draft->is_counted;
    block_draft_note(translation, pc, trail_plain);
    draft->count_pending = 0;
}

struct cache_pc block_draft_set_exit(struct translation *translation, unsigned which, enum block_exit_kind kind,
                                     struct app_pc target)
{
    struct block_exit *exit = &translation->block->exits[which];
    struct cache_pc stub = code_writer_pc(&translation->cold);

    exit->kind = (uint8_t)kind;
    block_exit_set_target(exit, target);
    /* For when the unit is linked. */
    code_cache_prefetch(translation->cache, target);
    if (kind == BLOCK_EXIT_ADJACENT)
        translation->slab->stubs_owed++;
    else
        block_exit_set_stub(exit, stub);
    return stub;
}

void block_draft_keep(struct translation *translation)
{
    struct block_draft *draft = translation->draft;
    struct block *block = translation->block;
    struct code_place_record *place = &translation->places[translation->block_count - 1];
    uint64_t start = block_code(block).value;
    size_t bytes = trail_encode(draft->points, draft->point_count, draft->trail, sizeof(draft->trail));
    uint8_t *kept = cache_slab_note(translation->slab, bytes, 1, &place->trail);

    if (kept == NULL || (bytes == 0 && draft->point_count != 0)) {
        translation->hot.overflowed = true;
        return;
    }
    __builtin_memcpy(kept, draft->trail, bytes);
    place->start = (uint32_t)(start - cache_range_start(&translation->slab->hot_range));
    place->block = block->index;
    place->trail_bytes = (uint16_t)bytes;
    place->size_bytes = (uint16_t)(code_writer_pc(&translation->hot).value - start);
}
