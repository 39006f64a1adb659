/* SPDX-License-Identifier: MIT */
/*
 * Links between blocks. Invariant: an exit is in the list of the block that it is linked to, and in no other. An exit's
 * branch, and a placeholder whole, lie in one aligned word of 8 bytes: one store links or unlinks them while other
 * threads run there.
 */
#include "stalker/block_link.h"

#include "arch/engine.h"
#include "base/code_memory.h"
#include "base/counters.h"
#include "stalker/code_place.h"
#include "stalker/event_plan.h"
#include "stalker/invalidate.h"
#include "stalker/stalker_engine.h"

static const struct engine_emit *emit_of(const struct code_cache *cache)
{
    return cache->engine->machine->emit;
}

/* The stub of an exit that was put without one, for which room was kept. */
static int put_late_stub(const struct engine_emit *emit, struct cache_slab *slab, struct block_exit *exit)
{
    struct code_writer writer;
    int result = code_memory_reserve(slab->cold, emit->stub_bytes, &writer);

    if (result != 0)
        return result;
    emit->put_stub(&writer, block_exit_number(block_of_exit(exit), exit->which));
    result = code_memory_commit(slab->cold, &writer);
    if (result == 0) {
        block_exit_set_stub(exit, writer.base_pc);
        slab->stubs_owed--;
    }
    return result;
}

/* A jump in cold memory that reaches any address. */
static int put_far_jump(const struct code_cache *cache, struct cache_slab *slab, const struct block *to,
                        struct cache_pc *jump_out)
{
    unsigned position = cache->engine->machine->place->position_register;
    struct trail_state state = {.homes = code_cache_has_events(cache) ? register_bit(position) : 0};
    struct cold_piece piece;
    struct code_writer writer;
    int result = code_cache_reserve_cold(slab, BLOCK_FAR_JUMP_BYTES, &writer);

    if (result != 0)
        return result;
    *jump_out = writer.base_pc;
    cold_piece_begin(&piece, to, &writer);
    cold_piece_note(&piece, &writer, to->start, state);
    emit_of(cache)->put_far_jump(&writer, to->entry);
    if (cold_piece_end(&piece, slab, &writer) != 0)
        writer.overflowed = true;
    return code_memory_commit(slab->cold, &writer);
}

static int patch_branch(const struct engine_emit *emit, struct cache_slab *slab, const struct block_exit *exit,
                        struct cache_pc to)
{
    unsigned size = exit->kind == BLOCK_EXIT_ADJACENT ? emit->placeholder_bytes : emit->branch_bytes;
    uint64_t place = block_exit_place(exit).value, word = place & ~7ull;
    uint64_t value = *(const volatile uint64_t *)(uintptr_t)word;
    unsigned shift = 8 * (unsigned)(place - word);
    uint64_t mask = (1ull << 8 * size) - 1;

    value = (value & ~(mask << shift)) | (emit->make_branch(exit, to) & mask) << shift;
    return code_memory_patch(slab->hot, cache_pc_of(word), value, sizeof(value));
}

/* Makes an exit's branch go to the block `to`, or to its stub for NULL. -ENOSPC: there is no room for what that takes.
 */
static int lead_exit(const struct code_cache *cache, struct block_exit *exit, const struct block *to)
{
    const struct engine_emit *emit = emit_of(cache);
    struct cache_slab *slab = code_cache_slab_of(cache, block_of_exit(exit));
    struct cache_pc destination;
    int result = 0;

    if (to == NULL && !block_exit_has_stub(exit))
        result = put_late_stub(emit, slab, exit);
    if (result != 0)
        return result;
    destination = to == NULL ? block_exit_stub(exit) : to->entry;
    /* A placeholder is part of the slab that its stub is near to, so the stub stands for all of it. */
    if (to != NULL && !emit->branch_reaches(exit, destination))
        result = put_far_jump(cache, slab, to, &destination);
    if (result != 0)
        return result;
    return patch_branch(emit, slab, exit, destination);
}

void block_link_note(struct block_exit *exit, struct block *to)
{
    exit->linked = to->index + 1;
    exit->next_incoming = to->incoming;
    to->incoming = block_exit_number(block_of_exit(exit), exit->which) + 1;
}

void block_link(struct code_cache *cache, struct block_exit *exit, struct block *to)
{
    if (exit->linked != 0 || !block_exit_is_linkable(exit) || cache->engine->options.without_links ||
        !block_may_link(cache, to))
        return;
    if (lead_exit(cache, exit, to) != 0)
        return;
    counter_add(COUNTER_blocks_linked, 1);
    observer_linked(cache, exit, to);
    block_link_note(exit, to);
}

void block_link_forget(struct code_cache *cache, struct block_exit *exit)
{
    uint32_t number = block_exit_number(block_of_exit(exit), exit->which) + 1;
    uint32_t *place;

    if (exit->linked == 0)
        return;
    place = &code_cache_linked(cache, exit)->incoming;
    while (*place != number)
        place = &code_cache_exit(cache, *place - 1)->next_incoming;
    *place = exit->next_incoming;
    exit->linked = 0;
}

void block_unlink(struct code_cache *cache, struct block_exit *exit)
{
    if (exit->linked == 0)
        return;
    block_link_forget(cache, exit);
    /* The stub is in reach: it was when the branch was written. */
    if (lead_exit(cache, exit, NULL) == 0)
        counter_add(COUNTER_blocks_unlinked, 1);
}

void block_unlink_incoming(struct code_cache *cache, struct block *block)
{
    while (block->incoming != 0)
        block_unlink(cache, code_cache_exit(cache, block->incoming - 1));
}
