/* SPDX-License-Identifier: MIT */
/*
 * Storage of one cache. Invariant: a block in the map is complete, its code committed. Blocks are never moved and their
 * indices never reused while the cache lives, so that a thread in any stub finds its exit. Neighbours: unit.c fills it,
 * block_link.c connects blocks.
 */
#include "stalker/code_cache.h"

#include "arch/engine.h"
#include "base/assert.h"
#include "base/code_memory.h"
#include "base/memory_map.h"
#include "ring/ring_region.h"
#include "stalker/block_link.h"
#include "stalker/stalker_engine.h"

#include <asm/errno.h>

#define HOT_BYTES   (512u << 10)
#define COLD_BYTES  (256u << 10)
#define NOTES_BYTES (512u << 10)

/* Half of what still counts as near. */
#define SLAB_DISTANCE (512ull << 20)

/* More than a unit's trails, snapshots and lengths take. */
#define UNIT_NOTES_BYTES (128u << 10)

/* What an exit's stub takes at most if it is put by itself. */
#define STUB_BYTES_MAX 32

/* One for each block of 40 bytes: then the slab is full as well. */
#define COUNTERS_PER_SLAB (HOT_BYTES / 40)

int code_cache_create(const struct code_cache_options *options, struct code_cache **cache_out)
{
    struct code_cache *cache;
    void *storage;
    int result = memory_map(sizeof(*cache), &storage);

    if (result != 0)
        return result;
    cache = storage;
    cache->engine = options->engine;
    cache->configuration = options->configuration;
    if (options->configuration.ring != NULL)
        cache->ring_space = ring_region_new_space(options->configuration.ring);
    slab_init(&cache->instruments, 0);
    /* Three quarters of twice as many are no more than short programs need. */
    result = hash_map_init(&cache->blocks, 2048);
    if (result == 0)
        result = block_places_init(&cache->places);
    if (result == 0)
        result = indirect_table_init(&cache->indirect, options->engine->machine->emit->indirect,
                                     options->indirect_missing.value, options->engine->options.narrow_tables);
    if (result != 0) {
        code_cache_destroy(cache);
        return result;
    }
    *cache_out = cache;
    return 0;
}

static void set_range(struct cache_range *range, const struct code_memory *memory)
{
    atomic_store_explicit(&range->size_bytes, memory == NULL ? 0 : code_memory_size(memory), memory_order_relaxed);
    atomic_store_explicit(&range->start, memory == NULL ? 0 : code_memory_start(memory).value, memory_order_relaxed);
}

static bool is_within(const struct cache_range *range, struct cache_pc pc)
{
    return pc.value - atomic_load_explicit(&range->start, memory_order_relaxed) <
           atomic_load_explicit(&range->size_bytes, memory_order_relaxed);
}

static void free_counters(uint64_t *counters)
{
    if (counters != NULL)
        memory_unmap(counters, COUNTERS_PER_SLAB * sizeof(uint64_t));
}

static void keep_counters(struct code_cache *cache, struct cache_slab *slab)
{
    if (slab->counters == NULL)
        return;
    slab->counters[0] = (uintptr_t)cache->kept_counters;
    cache->kept_counters = slab->counters;
    slab->counters = NULL;
}

/* Gives all memory of the slab back but the struct, which somebody may be looking at. */
static void empty_slab(struct cache_slab *slab)
{
    set_range(&slab->hot_range, NULL);
    set_range(&slab->cold_range, NULL);
    free_counters(slab->counters);
    code_memory_destroy(slab->hot);
    code_memory_destroy(slab->cold);
    code_place_list_deinit(&slab->hot_places);
    code_place_list_deinit(&slab->cold_places);
    if (slab->notes != NULL)
        memory_unmap(slab->notes, slab->notes_bytes);
    slab->notes = NULL;
    slab->notes_used = slab->notes_bytes = 0;
    slab->notes_present = 0;
    slab->hot = slab->cold = NULL;
    slab->counters = NULL;
    slab->counter_count = 0;
    slab->stubs_owed = 0;
    slab->is_retired = false;
}

static void spare_slab(struct code_cache *cache, struct cache_slab *slab)
{
    empty_slab(slab);
    slab->next_spare = cache->spare_slabs;
    cache->spare_slabs = slab;
}

/* A struct without memory: one that is left over, or a new one. */
static int obtain_slab(struct code_cache *cache, struct cache_slab **slab_out)
{
    struct cache_slab *slab;
    void *storage;
    int result;

    if (cache->spare_slabs != NULL) {
        *slab_out = cache->spare_slabs;
        cache->spare_slabs = cache->spare_slabs->next_spare;
        return 0;
    }
    if (cache->slab_count == CACHE_SLAB_COUNT)
        return -ENOMEM;
    result = memory_map(sizeof(struct cache_slab), &storage);
    if (result != 0)
        return result;
    slab = storage;
    slab->number = (uint16_t)cache->slab_count;
    cache->slab_table[cache->slab_count++] = slab;
    *slab_out = slab;
    return 0;
}

void code_cache_free_slab(struct code_cache *cache, struct cache_slab *slab)
{
    for (uint32_t i = 0; i < cache->block_count; i++) {
        struct block *block = code_cache_block(cache, i);

        if (code_cache_slab_of(cache, block) != slab)
            continue;
        /* Blocks that this one led to must not find it in their lists any more. */
        for (unsigned which = 0; which < BLOCK_EXIT_COUNT; which++)
            block_link_forget(cache, &block->exits[which]);
        block->slab = 0;
    }
    keep_counters(cache, slab);
    spare_slab(cache, slab);
}

static size_t chunk_bytes(void)
{
    return sizeof(struct block) << BLOCK_CHUNK_SHIFT;
}

void code_cache_destroy(struct code_cache *cache)
{
    if (cache == NULL)
        return;
    for (struct cache_slab *slab = cache->slabs, *next; slab != NULL; slab = next) {
        next = slab->next;
        empty_slab(slab);
        memory_unmap(slab, sizeof(*slab));
    }
    for (struct cache_slab *slab = cache->spare_slabs, *next; slab != NULL; slab = next) {
        next = slab->next_spare;
        memory_unmap(slab, sizeof(*slab));
    }
    for (uint64_t *counters = cache->kept_counters, *next; counters != NULL; counters = next) {
        next = (uint64_t *)(uintptr_t)counters[0];
        free_counters(counters);
    }
    for (unsigned i = 0; i < BLOCK_CHUNK_COUNT && cache->chunks[i] != NULL; i++)
        memory_unmap(cache->chunks[i], chunk_bytes());
    slab_deinit(&cache->instruments);
    hash_map_deinit(&cache->blocks);
    block_places_deinit(&cache->places);
    hash_map_retired_free(cache->retired_tables);
    indirect_table_deinit(&cache->indirect);
    memory_unmap(cache, sizeof(*cache));
}

struct block *code_cache_new_block(struct code_cache *cache)
{
    uint32_t index = cache->block_count, chunk = index >> BLOCK_CHUNK_SHIFT;
    struct block *block;
    void *storage;

    if (chunk == BLOCK_CHUNK_COUNT)
        return NULL;
    if (cache->chunks[chunk] == NULL) {
        if (memory_map(chunk_bytes(), &storage) != 0)
            return NULL;
        cache->chunks[chunk] = storage;
        cache->chunk_present = 0;
    }
    cache->block_count++;
    block = code_cache_block(cache, index);
    memory_populate_ahead(cache->chunks[chunk], chunk_bytes(),
                          (size_t)((char *)(block + 1) - (char *)cache->chunks[chunk]), &cache->chunk_present);
    block_init(block, index);
    return block;
}

void code_cache_drop_block(struct code_cache *cache, struct block *block)
{
    ASSERT(block->index + 1 == cache->block_count, "dropping a block that is not the newest");
    cache->block_count--;
}

void code_cache_describe(const struct code_cache *cache, const struct block *block, struct event_block *described_out)
{
    struct block_notes *notes = code_cache_notes(cache, block);

    *described_out = (struct event_block){
        .start = block->start.value,
        .call_target = block_exit_target(&block->exits[0]).value,
        .size_bytes = block->size_bytes,
        .last_insn_bytes = block->last_insn_bytes,
        .insn_count = block->insn_count,
        .insn_lengths = notes == NULL || notes->length_count == 0 ? NULL : block_notes_lengths(notes),
    };
}

/* Whether records go to a ring, and name blocks. */
static bool has_block_records(const struct code_cache *cache)
{
    return cache->configuration.ring != NULL && cache->configuration.events & EVENTS_IN_CODE;
}

/* No record names a quiet one. */
static void tell_block(const struct code_cache *cache, const struct block *block)
{
    struct event_block described;

    if (block->is_quiet)
        return;
    code_cache_describe(cache, block, &described);
    (void)ring_region_add_block(cache->configuration.ring, cache->ring_space, block->index, &described);
}

void code_cache_tell_blocks(struct code_cache *cache)
{
    for (uint32_t i = 0; has_block_records(cache) && i < cache->block_count; i++) {
        const struct block *block = code_cache_block(cache, i);

        if (!block->is_retired)
            tell_block(cache, block);
    }
}

int code_cache_publish(struct code_cache *cache, struct block *block)
{
    if (has_block_records(cache))
        tell_block(cache, block);
    block_places_add(&cache->places, block->start.value, block_source_end(block).value, block->index);
    return hash_map_insert(&cache->blocks, block->start.value, (uintptr_t)block);
}

static bool find_place(const struct code_cache *cache, const struct cache_slab *slab, const struct cache_range *range,
                       struct cache_pc pc, struct code_place *place_out)
{
    const struct code_place_list *list = range == &slab->hot_range ? &slab->hot_places : &slab->cold_places;
    uint64_t start = atomic_load_explicit(&range->start, memory_order_relaxed);
    const struct code_place_record *record = code_place_find(list, (uint32_t)(pc.value - start));

    if (record == NULL)
        return false;
    *place_out = (struct code_place){
        .start = cache_pc_of(start + record->start),
        .block = code_cache_block(cache, record->block),
        .trail = slab->notes + record->trail,
        .trail_bytes = record->trail_bytes,
        .size_bytes = record->size_bytes,
    };
    return true;
}

bool code_cache_place_at(const struct code_cache *cache, struct cache_pc pc, struct code_place *place_out)
{
    const struct cache_slab *slab = __atomic_load_n(&cache->slabs, __ATOMIC_ACQUIRE);

    for (; slab != NULL; slab = slab->next) {
        if (is_within(&slab->hot_range, pc))
            return find_place(cache, slab, &slab->hot_range, pc, place_out);
        if (is_within(&slab->cold_range, pc))
            return find_place(cache, slab, &slab->cold_range, pc, place_out);
    }
    return false;
}

void *cache_slab_note(struct cache_slab *slab, size_t size_bytes, size_t alignment, uint32_t *place_out)
{
    size_t place = (slab->notes_used + alignment - 1) & ~(alignment - 1);

    if (place + size_bytes > slab->notes_bytes)
        return NULL;
    memory_populate_ahead(slab->notes, slab->notes_bytes, place + size_bytes, &slab->notes_present);
    slab->notes_used = (uint32_t)(place + size_bytes);
    *place_out = (uint32_t)place;
    return slab->notes + place;
}

struct block_notes *code_cache_add_notes(const struct code_cache *cache, struct block *block, uint16_t snapshot_bytes,
                                         uint16_t length_count)
{
    size_t bytes = sizeof(struct block_notes) + snapshot_bytes + length_count;
    struct block_notes *notes =
        cache_slab_note(code_cache_slab_of(cache, block), bytes, _Alignof(struct block_notes), &block->notes);

    if (notes != NULL)
        *notes = (struct block_notes){.snapshot_bytes = snapshot_bytes, .length_count = length_count};
    return notes;
}

static bool has_room_for_notes(const struct cache_slab *slab)
{
    return slab->notes_bytes - slab->notes_used >= UNIT_NOTES_BYTES;
}

static bool has_room(const struct cache_slab *slab, size_t hot_bytes, size_t cold_bytes)
{
    return code_memory_room(slab->hot) >= hot_bytes &&
           code_memory_room(slab->cold) >= cold_bytes + slab->stubs_owed * STUB_BYTES_MAX;
}

int code_cache_reserve_cold(struct cache_slab *slab, size_t size_bytes, struct code_writer *writer_out)
{
    if (!has_room(slab, 0, size_bytes))
        return -ENOSPC;
    return code_memory_reserve(slab->cold, size_bytes, writer_out);
}

/* Whether branches and operands of code there reach what code here reaches. */
static bool is_near(const struct cache_slab *slab, uint64_t address)
{
    uint64_t hot = cache_range_start(&slab->hot_range);
    uint64_t distance = hot > address ? hot - address : address - hot;

    return distance < (1u << 30);
}

/*
 * Where programs map memory by themselves, next to what they have, they may take for free what was when they looked:
 * code of ours keeps its distance, below, since memory grows upwards there.
 */
static uint64_t place_for(uint64_t near)
{
    return near > 2 * SLAB_DISTANCE ? near - SLAB_DISTANCE : near;
}

static int create_memories(struct cache_slab *slab, const struct stalker_engine_options *options, uint64_t near)
{
    struct code_memory_options memory = {
        .size_bytes = options->slab_bytes == 0 ? HOT_BYTES : options->slab_bytes,
        .near = place_for(near),
        .mode = options->view,
    };
    int result = code_memory_create(&memory, &slab->hot);

    if (result != 0)
        return result;
    if (options->slab_bytes == 0)
        memory.size_bytes = COLD_BYTES;
    memory.near = code_memory_start(slab->hot).value;
    return code_memory_create(&memory, &slab->cold);
}

static int create_notes(struct cache_slab *slab)
{
    void *storage;
    int result = memory_map(NOTES_BYTES, &storage);

    if (result != 0)
        return result;
    slab->notes = storage;
    slab->notes_bytes = NOTES_BYTES;
    /* So that no block's notes are at 0. */
    slab->notes_used = 1;
    return 0;
}

static int create_slab(struct code_cache *cache, uint64_t near, struct cache_slab **slab_out)
{
    struct cache_slab *slab;
    int result = obtain_slab(cache, &slab);

    if (result != 0)
        return result;
    slab->neighbourhood = near;
    result = create_memories(slab, &cache->engine->options, near);
    /* Out of reach is slower, but better than nothing. */
    if (result == -ENOMEM) {
        code_memory_destroy(slab->hot);
        slab->hot = NULL;
        result = create_memories(slab, &cache->engine->options, 0);
    }
    if (result == 0)
        result = create_notes(slab);
    if (result != 0) {
        spare_slab(cache, slab);
        return result;
    }
    set_range(&slab->hot_range, slab->hot);
    set_range(&slab->cold_range, slab->cold);
    slab->next = cache->slabs;
    /* Release: pairs with the acquire in code_cache_place_at. */
    __atomic_store_n(&cache->slabs, slab, __ATOMIC_RELEASE);
    *slab_out = slab;
    return 0;
}

int code_cache_slab(struct code_cache *cache, struct app_pc near, size_t hot_bytes, size_t cold_bytes,
                    struct cache_slab **slab_out)
{
    for (struct cache_slab *slab = cache->slabs; slab != NULL; slab = slab->next)
        if (!slab->is_retired && (is_near(slab, near.value) || slab->neighbourhood >> 30 == near.value >> 30) &&
            has_room(slab, hot_bytes, cold_bytes) && has_room_for_notes(slab)) {
            *slab_out = slab;
            return 0;
        }
    return create_slab(cache, near.value, slab_out);
}

uint64_t *code_cache_new_counter(struct code_cache *cache, struct cache_slab *slab)
{
    void *storage;

    if (slab->counters == NULL) {
        uint64_t near = code_memory_start(slab->hot).value;

        if (memory_map_near(near, COUNTERS_PER_SLAB * sizeof(uint64_t), MEMORY_READ_WRITE, &storage) != 0)
            return NULL;
        slab->counters = storage;
        slab->counter_count = 1;
    }
    if (slab->counter_count < COUNTERS_PER_SLAB)
        return &slab->counters[slab->counter_count++];
    return slab_allocate_zeroed(&cache->instruments, sizeof(uint64_t), sizeof(uint64_t));
}

static size_t slab_memory(const struct cache_slab *slab)
{
    return sizeof(*slab) + code_memory_committed(slab->hot) + code_memory_committed(slab->cold) +
           code_place_list_bytes(&slab->hot_places) + code_place_list_bytes(&slab->cold_places) + slab->notes_used +
           slab->counter_count * sizeof(uint64_t);
}

size_t code_cache_memory(const struct code_cache *cache)
{
    size_t bytes = sizeof(*cache) + indirect_table_memory(&cache->indirect);

    bytes += cache->block_count * sizeof(struct block);
    bytes += hash_map_memory(&cache->blocks) + hash_map_retired_memory(cache->retired_tables);
    bytes += hash_map_memory(&cache->places.runs);
    bytes += slab_stats(&cache->instruments).used_bytes;
    for (const struct cache_slab *slab = cache->slabs; slab != NULL; slab = slab->next)
        bytes += slab_memory(slab);
    for (const struct cache_slab *slab = cache->spare_slabs; slab != NULL; slab = slab->next_spare)
        bytes += sizeof(*slab);
    return bytes;
}

void code_cache_announce(struct code_cache *cache, const struct block *block)
{
    if (!cache->engine->options.without_lookup)
        indirect_table_set(&cache->indirect, block->start, block_landing(block));
}
