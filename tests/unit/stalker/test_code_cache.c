/* SPDX-License-Identifier: MIT */
#include "stalker/code_cache.h"

#include "arch/engine.h"
#include "base/code_memory.h"
#include "gait/stalker.h"
#include "ring/ring_region.h"
#include "stalker/stalker_engine.h"
#include "support/arena.h"
#include "support/check.h"
#include "support/machine_code.h"

#include <errno.h>

#define MISSING 0x123456789abcull

static const struct indirect_form table_form = {.within = {0x10000, 0x7fff0000}};
static const struct engine_emit emit = {.indirect = &table_form};
static const struct engine machine = {.emit = &emit};
static struct stalker_engine engine = {.machine = &machine};

static struct code_cache *create(void)
{
    struct code_cache_options options = {
        .engine = &engine,
        .configuration = {.events = 5},
        .indirect_missing = cache_pc_of(MISSING),
    };
    struct code_cache *cache = NULL;

    CHECK_EQUAL(code_cache_create(&options, &cache), 0);
    return cache;
}

static struct block *new_block(struct code_cache *cache, uint64_t start)
{
    struct block *block;

    mutex_lock(&cache->lock);
    block = code_cache_new_block(cache);
    mutex_unlock(&cache->lock);
    if (block != NULL)
        block->start = app_pc_of(start);
    return block;
}

static int publish(struct code_cache *cache, struct block *block)
{
    int result;

    mutex_lock(&cache->lock);
    result = code_cache_publish(cache, block);
    mutex_unlock(&cache->lock);
    return result;
}

static struct cache_slab *slab_near(struct code_cache *cache, uint64_t near, size_t hot_bytes, size_t cold_bytes)
{
    struct cache_slab *slab = NULL;

    mutex_lock(&cache->lock);
    CHECK_EQUAL(code_cache_slab(cache, app_pc_of(near), hot_bytes, cold_bytes, &slab), 0);
    mutex_unlock(&cache->lock);
    return slab;
}

static size_t memory_of(struct code_cache *cache)
{
    size_t bytes;

    mutex_lock(&cache->lock);
    bytes = code_cache_memory(cache);
    mutex_unlock(&cache->lock);
    return bytes;
}

static uint64_t *new_counter(struct code_cache *cache, struct cache_slab *slab)
{
    uint64_t *counter;

    mutex_lock(&cache->lock);
    counter = code_cache_new_counter(cache, slab);
    mutex_unlock(&cache->lock);
    return counter;
}

static uint64_t own_code(void)
{
    return (uintptr_t)&own_code;
}

/* How much a ring is told of a block. */
static uint64_t bytes_told(uint32_t events)
{
    static const struct ring_options sizes;
    struct code_cache_options options = {.engine = &engine, .configuration = {.events = events}};
    struct ring_region *ring = NULL;
    struct code_cache *cache = NULL;
    uint64_t told;

    CHECK_EQUAL(ring_region_create(&sizes, &ring), 0);
    options.configuration.ring = ring;
    CHECK_EQUAL(code_cache_create(&options, &cache), 0);
    CHECK_EQUAL(publish(cache, new_block(cache, 0x1000)), 0);
    told = ring_region_header(ring)->blocks_used;
    code_cache_tell_blocks(cache);
    CHECK_EQUAL(ring_region_header(ring)->blocks_used, 2 * told);
    code_cache_destroy(cache);
    ring_region_destroy(ring);
    return told;
}

static void a_ring_is_told_of_blocks_if_its_records_name_them(void)
{
    CHECK(bytes_told(GAIT_EVENT_CALL) > 0);
    CHECK(bytes_told(GAIT_EVENT_BLOCK) > 0);
    CHECK_EQUAL(bytes_told(0), 0);
}

static void a_new_cache_knows_nothing(void)
{
    struct code_cache *cache = create();

    CHECK_EQUAL(cache->configuration.events, 5);
    CHECK(code_cache_find(cache, app_pc_of(0x1000)) == NULL);
    CHECK(code_cache_find(cache, app_pc_of(0)) == NULL);
    for (size_t i = 0; i < INDIRECT_TABLE_ENTRIES; i++)
        if (cache->indirect.entries[i] != MISSING)
            CHECK_EQUAL(cache->indirect.entries[i], MISSING);
    /* Code names entries by a sign-extended 32-bit displacement. */
    CHECK((uintptr_t)(cache->indirect.entries + INDIRECT_TABLE_ENTRIES) < 1ull << 31);
    code_cache_destroy(cache);
    code_cache_destroy(NULL);
}

static void blocks_are_found_by_index_and_by_exit(void)
{
    enum { COUNT = (3 << BLOCK_CHUNK_SHIFT) + 5 };
    static struct block *blocks[COUNT];
    struct code_cache *cache = create();

    for (uint32_t i = 0; i < COUNT; i++) {
        blocks[i] = new_block(cache, 0x1000 + i);
        CHECK(blocks[i] != NULL);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        struct block *block = code_cache_block(cache, i);

        CHECK(block == blocks[i]);
        CHECK_EQUAL(block->index, i);
        CHECK_EQUAL(block->start.value, 0x1000 + i);
        for (unsigned exit = 0; exit < BLOCK_EXIT_COUNT; exit++) {
            struct block_exit *found = code_cache_exit(cache, block_exit_number(block, exit));

            CHECK(found == &block->exits[exit]);
            CHECK(block_of_exit(found) == block);
        }
    }
    code_cache_destroy(cache);
}

static void a_dropped_block_is_given_again_and_zeroed(void)
{
    struct code_cache *cache = create();
    struct block *first = new_block(cache, 0x1000), *second = new_block(cache, 0x2000), *again;

    second->is_retired = true;
    second->exits[1].kind = BLOCK_EXIT_JUMP;
    second->exits[1].linked = first->index + 1;
    mutex_lock(&cache->lock);
    code_cache_drop_block(cache, second);
    mutex_unlock(&cache->lock);
    again = new_block(cache, 0x3000);
    CHECK(again == second);
    CHECK_EQUAL(again->index, 1);
    CHECK(!again->is_retired);
    CHECK_EQUAL(again->exits[1].kind, BLOCK_EXIT_NONE);
    CHECK(code_cache_linked(cache, &again->exits[1]) == NULL);
    CHECK_EQUAL(again->exits[1].which, 1);
    code_cache_destroy(cache);
}

static void only_published_blocks_are_found(void)
{
    struct code_cache *cache = create();
    struct block *block = new_block(cache, 0x1000), *twin = new_block(cache, 0x1000);

    CHECK(code_cache_find(cache, app_pc_of(0x1000)) == NULL);
    CHECK_EQUAL(publish(cache, block), 0);
    CHECK(code_cache_find(cache, app_pc_of(0x1000)) == block);
    CHECK(code_cache_find(cache, app_pc_of(0x1001)) == NULL);
    CHECK_EQUAL(publish(cache, twin), -EEXIST);
    CHECK(code_cache_find(cache, app_pc_of(0x1000)) == block);
    code_cache_destroy(cache);
}

static void indirect_branches_find_what_is_announced(void)
{
    struct code_cache *cache = create();
    struct block *block = new_block(cache, 0xabcd1234);

    block->entry = cache_pc_of(0x76543210);
    block_set_landing(block, cache_pc_of(0x77777777));
    mutex_lock(&cache->lock);
    code_cache_announce(cache, block);
    mutex_unlock(&cache->lock);
    CHECK_EQUAL(cache->indirect.entries[0x1234], 0x77777777);
    CHECK_EQUAL(cache->indirect.entries[0x1233], MISSING);
    CHECK_EQUAL(cache->indirect.entries[0x1235], MISSING);
    code_cache_destroy(cache);
}

static bool is_in_reach(const struct code_memory *memory, uint64_t address)
{
    uint64_t start = code_memory_start(memory).value;

    return address_fits_rel32(start, address) && address_fits_rel32(start + code_memory_size(memory), address);
}

static void slabs_are_near_their_code_and_both_memories_to_each_other(void)
{
    const uint64_t places[] = {0x10000, 0x60000000, ARENA_BASE, own_code()};
    struct code_cache *cache = create();

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct cache_slab *slab = slab_near(cache, places[i], 1, 1);

        if (slab == NULL)
            continue;
        CHECK(is_in_reach(slab->hot, places[i]));
        CHECK(is_in_reach(slab->cold, code_memory_start(slab->hot).value));
        CHECK(is_in_reach(slab->hot, code_memory_start(slab->cold).value));
    }
    code_cache_destroy(cache);
}

static void a_slab_serves_its_neighbourhood_until_it_is_full(void)
{
    struct code_cache *cache = create();
    struct cache_slab *slab = slab_near(cache, own_code(), 100, 100), *other;
    struct code_writer writer;

    CHECK(slab_near(cache, own_code() + 4096, 100, 100) == slab);
    other = slab_near(cache, own_code() ^ 1ull << 40, 100, 100);
    CHECK(other != slab);
    CHECK(slab_near(cache, own_code(), code_memory_room(slab->hot), code_memory_room(slab->cold)) == slab);
    CHECK_EQUAL(code_memory_reserve(slab->cold, code_memory_room(slab->cold), &writer), 0);
    while (code_writer_room(&writer) > 0)
        code_writer_put_u8(&writer, 0);
    CHECK_EQUAL(code_memory_commit(slab->cold, &writer), 0);
    CHECK(slab_near(cache, own_code(), 1, 0) == slab);
    other = slab_near(cache, own_code(), 1, 100);
    CHECK(other != slab && code_memory_room(other->cold) >= 100);
    code_cache_destroy(cache);
}

static void counters_are_zero_apart_and_in_reach(void)
{
    enum { COUNT = 20000 };
    struct code_cache *cache = create();
    struct cache_slab *slab = slab_near(cache, own_code(), 1, 1);
    size_t out_of_reach = 0;

    for (size_t i = 0; i < COUNT; i++) {
        uint64_t *counter = new_counter(cache, slab);

        if (counter == NULL || *counter != 0) {
            CHECK(counter != NULL && *counter == 0);
            break;
        }
        *counter = i + 1;
        out_of_reach += !is_in_reach(slab->hot, (uintptr_t)counter);
        /* So many that a block each would fill the slab. */
        CHECK(i > 512 * 1024 / 64 || out_of_reach == 0);
    }
    code_cache_destroy(cache);
}

static void memory_grows_with_what_is_kept(void)
{
    struct code_cache *cache = create();
    size_t empty = memory_of(cache), before;
    struct cache_slab *slab;
    struct code_writer writer;
    uint32_t place;

    CHECK(empty >= INDIRECT_TABLE_ENTRIES * sizeof(uint64_t) + sizeof(*cache));
    CHECK(new_block(cache, 0x1000) != NULL);
    CHECK_EQUAL(memory_of(cache), empty + sizeof(struct block));
    slab = slab_near(cache, own_code(), 1, 1);
    before = memory_of(cache);
    CHECK_EQUAL(before, empty + sizeof(struct block) + sizeof(*slab) + slab->notes_used);
    CHECK_EQUAL(code_memory_reserve(slab->hot, 64, &writer), 0);
    machine_code_put_function(&writer, 7);
    CHECK_EQUAL(code_memory_commit(slab->hot, &writer), 0);
    CHECK_EQUAL(memory_of(cache), before + code_memory_committed(slab->hot));
    before = memory_of(cache);
    CHECK(new_counter(cache, slab) != NULL);
    /* The first one brings the link with it. */
    CHECK_EQUAL(memory_of(cache), before + 2 * sizeof(uint64_t));
    before = memory_of(cache);
    CHECK(cache_slab_note(slab, 10, 1, &place) != NULL);
    CHECK_EQUAL(code_place_add(&slab->hot_places, &(struct code_place_record){.size_bytes = 1}), 0);
    CHECK_EQUAL(memory_of(cache), before + 10 + sizeof(struct code_place_record));
    code_cache_destroy(cache);
}

static void notes_are_apart_and_end_with_the_room_for_them(void)
{
    struct code_cache *cache = create();
    struct cache_slab *slab = slab_near(cache, own_code(), 1, 1);
    uint8_t *first, *second;
    uint32_t place = 0;

    first = cache_slab_note(slab, 3, 1, &place);
    CHECK(first == slab->notes + place && place != 0);
    second = cache_slab_note(slab, 8, 4, &place);
    CHECK(second >= first + 3 && (uintptr_t)second % 4 == 0);
    CHECK(cache_slab_note(slab, slab->notes_bytes, 1, &place) == NULL);
    CHECK(slab_near(cache, own_code(), 1, 1) == slab);
    /* Not even one unit more. */
    CHECK(cache_slab_note(slab, slab->notes_bytes - slab->notes_used, 1, &place) != NULL);
    CHECK(cache_slab_note(slab, 1, 1, &place) == NULL);
    CHECK(slab_near(cache, own_code(), 1, 1) != slab);
    code_cache_destroy(cache);
}

/* The address in a memory of the slab, told by its offset there. */
static bool place_of(const struct code_cache *cache, const struct code_memory *memory, uint32_t offset,
                     struct code_place *place_out)
{
    return code_cache_place_at(cache, cache_pc_of(code_memory_start(memory).value + offset), place_out);
}

static void code_is_found_where_it_is_with_its_block_and_its_trail(void)
{
    struct code_cache *cache = create();
    struct cache_slab *slab = slab_near(cache, own_code(), 1, 1);
    struct block *first = new_block(cache, 0x1000), *second = new_block(cache, 0x2000);
    struct code_place_record record = {.start = 16, .block = first->index, .trail_bytes = 3, .size_bytes = 10};
    struct code_place place;
    uint8_t *trail = cache_slab_note(slab, 3, 1, &record.trail);

    CHECK_EQUAL(code_place_add(&slab->hot_places, &record), 0);
    record.block = second->index;
    CHECK_EQUAL(code_place_add(&slab->cold_places, &record), 0);
    CHECK(place_of(cache, slab->hot, 25, &place) && place.block == first && place.trail == trail);
    CHECK(place.trail_bytes == 3 && place.size_bytes == 10);
    CHECK_EQUAL(place.start.value, code_memory_start(slab->hot).value + 16);
    CHECK(place_of(cache, slab->cold, 16, &place) && place.block == second);
    CHECK_EQUAL(place.start.value, code_memory_start(slab->cold).value + 16);
    CHECK(!place_of(cache, slab->hot, 26, &place));
    CHECK(!place_of(cache, slab->cold, 15, &place));
    CHECK(!code_cache_place_at(cache, cache_pc_of(own_code()), &place));
    code_cache_destroy(cache);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_new_cache_knows_nothing),
    CHECK_CASE(a_ring_is_told_of_blocks_if_its_records_name_them),
    CHECK_CASE(blocks_are_found_by_index_and_by_exit),
    CHECK_CASE(a_dropped_block_is_given_again_and_zeroed),
    CHECK_CASE(only_published_blocks_are_found),
    CHECK_CASE(indirect_branches_find_what_is_announced),
    CHECK_CASE(slabs_are_near_their_code_and_both_memories_to_each_other),
    CHECK_CASE(a_slab_serves_its_neighbourhood_until_it_is_full),
    CHECK_CASE(counters_are_zero_apart_and_in_reach),
    CHECK_CASE(memory_grows_with_what_is_kept),
    CHECK_CASE(notes_are_apart_and_end_with_the_room_for_them),
    CHECK_CASE(code_is_found_where_it_is_with_its_block_and_its_trail),
};

CHECK_MAIN(cases)
