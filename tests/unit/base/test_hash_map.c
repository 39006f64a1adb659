/* SPDX-License-Identifier: MIT */
#include "base/hash_map.h"

#include "support/check.h"

#include <errno.h>
#include <pthread.h>

#define MODEL_KEYS   400
#define MODEL_ROUNDS 200000

#define READERS      3
#define SHARED_KEYS  512
#define WRITES       60000

static uint64_t value_in(const struct hash_map *map, uint64_t key)
{
    uint64_t value = HASH_MAP_NO_VALUE;

    CHECK_EQUAL(hash_map_lookup(map, key, &value), value != HASH_MAP_NO_VALUE);
    return value;
}

static void keys_get_change_and_lose_values(void)
{
    struct hash_map map;

    CHECK_EQUAL(hash_map_init(&map, 0), 0);
    CHECK_EQUAL(value_in(&map, 5), HASH_MAP_NO_VALUE);
    CHECK_EQUAL(hash_map_insert(&map, 5, 50), 0);
    CHECK_EQUAL(hash_map_insert(&map, 5, 51), -EEXIST);
    CHECK_EQUAL(value_in(&map, 5), 50);
    CHECK_EQUAL(hash_map_set(&map, 5, 52), 0);
    CHECK_EQUAL(hash_map_set(&map, 6, 0), 0);
    CHECK_EQUAL(value_in(&map, 5), 52);
    CHECK_EQUAL(value_in(&map, 6), 0);
    CHECK_EQUAL(hash_map_count(&map), 2);
    CHECK(hash_map_remove(&map, 5));
    CHECK(!hash_map_remove(&map, 5));
    CHECK_EQUAL(value_in(&map, 5), HASH_MAP_NO_VALUE);
    CHECK_EQUAL(hash_map_insert(&map, 5, 53), 0);
    CHECK_EQUAL(value_in(&map, 5), 53);
    CHECK(hash_map_check(&map));
    hash_map_deinit(&map);
}

static void the_first_and_the_last_key_are_like_any_other(void)
{
    static const uint64_t keys[] = {0, UINT64_MAX, 1, 1ull << 63};
    struct hash_map map;

    CHECK_EQUAL(hash_map_init(&map, 0), 0);
    for (int i = 0; i < 4; i++) {
        CHECK_EQUAL(value_in(&map, keys[i]), HASH_MAP_NO_VALUE);
        CHECK(!hash_map_remove(&map, keys[i]));
        CHECK_EQUAL(hash_map_insert(&map, keys[i], (uint64_t)i), 0);
        CHECK_EQUAL(hash_map_insert(&map, keys[i], 9), -EEXIST);
        CHECK_EQUAL(value_in(&map, keys[i]), i);
    }
    CHECK_EQUAL(hash_map_count(&map), 4);
    for (uint64_t key = 1000; key < 3000; key++)
        CHECK_EQUAL(hash_map_insert(&map, key, key), 0);
    CHECK_EQUAL(value_in(&map, 0), 0);
    CHECK_EQUAL(value_in(&map, UINT64_MAX), 1);
    CHECK(hash_map_remove(&map, 0));
    CHECK_EQUAL(value_in(&map, 0), HASH_MAP_NO_VALUE);
    CHECK(hash_map_check(&map));
    hash_map_deinit(&map);
}

static void the_value_that_marks_absence_is_refused(void)
{
    struct hash_map map;

    CHECK_EQUAL(hash_map_init(&map, 0), 0);
    CHECK_EQUAL(hash_map_set(&map, 1, HASH_MAP_NO_VALUE), -EINVAL);
    CHECK_EQUAL(hash_map_insert(&map, 0, HASH_MAP_NO_VALUE), -EINVAL);
    CHECK_EQUAL(hash_map_count(&map), 0);
    hash_map_deinit(&map);
}

static void growth_keeps_everything_and_retires_the_old_tables(void)
{
    struct hash_map map;

    CHECK_EQUAL(hash_map_init(&map, 0), 0);
    for (uint64_t key = 0; key < 100000; key++)
        CHECK_EQUAL(hash_map_insert(&map, key * 16, key), 0);
    CHECK(map.retired != NULL);
    CHECK(hash_map_check(&map));
    for (uint64_t key = 0; key < 100000; key++) {
        CHECK_EQUAL(value_in(&map, key * 16), key);
        CHECK_EQUAL(value_in(&map, key * 16 + 1), HASH_MAP_NO_VALUE);
    }
    hash_map_reclaim(&map);
    CHECK(map.retired == NULL);
    CHECK_EQUAL(value_in(&map, 160), 10);
    hash_map_deinit(&map);
}

static void a_hint_makes_room_before_the_first_growth(void)
{
    struct hash_map map;

    CHECK_EQUAL(hash_map_init(&map, 50000), 0);
    for (uint64_t key = 1; key <= 50000; key++)
        CHECK_EQUAL(hash_map_insert(&map, key << 12, key), 0);
    CHECK(map.retired == NULL);
    hash_map_deinit(&map);
    CHECK_EQUAL(hash_map_init(&map, SIZE_MAX), -ENOMEM);
}

/* Keys that come and go leave dead slots; tables must not grow with them. */
static void dead_slots_are_cleaned_up(void)
{
    struct hash_map map;
    struct hash_map_table *retired;

    CHECK_EQUAL(hash_map_init(&map, 100), 0);
    for (uint64_t key = 1; key < 200000; key++) {
        CHECK_EQUAL(hash_map_insert(&map, key, key), 0);
        CHECK(key <= 50 || hash_map_remove(&map, key - 50));
        retired = hash_map_retired_take(&map);
        CHECK(key % 64 != 0 || map.retired == NULL);
        hash_map_retired_free(retired);
    }
    CHECK_EQUAL(hash_map_count(&map), 50);
    CHECK(map.table->mask < 1024);
    CHECK(hash_map_check(&map));
    hash_map_deinit(&map);
}

static uint64_t model_key(int index)
{
    return index == 0 ? 0 : (uint64_t)(index % 4) << 60 | (uint64_t)(index / 4 * 4096);
}

static void compare_with_model(const struct hash_map *map, const uint64_t *model)
{
    uint64_t cursor = 0, key, value;
    size_t live = 0, visited = 0;

    CHECK(hash_map_check(map));
    for (int i = 0; i < MODEL_KEYS; i++) {
        CHECK_EQUAL(value_in(map, model_key(i)), model[i]);
        live += model[i] != HASH_MAP_NO_VALUE;
    }
    while (hash_map_next(map, &cursor, &key, &value)) {
        CHECK_EQUAL(value_in(map, key), value);
        visited++;
    }
    CHECK_EQUAL(visited, live);
    CHECK_EQUAL(hash_map_count(map), live);
}

static void random_use_agrees_with_an_array(void)
{
    static uint64_t model[MODEL_KEYS];
    struct hash_map map;

    memset(model, 0xff, sizeof(model));
    CHECK_EQUAL(hash_map_init(&map, 0), 0);
    for (int round = 0; round < MODEL_ROUNDS; round++) {
        int i = rand() % MODEL_KEYS;
        uint64_t value = (uint64_t)rand();

        if (rand() % 3 == 0) {
            CHECK_EQUAL(hash_map_remove(&map, model_key(i)), model[i] != HASH_MAP_NO_VALUE);
            model[i] = HASH_MAP_NO_VALUE;
        } else if (rand() % 2 == 0) {
            CHECK_EQUAL(hash_map_insert(&map, model_key(i), value), model[i] == HASH_MAP_NO_VALUE ? 0 : -EEXIST);
            model[i] = model[i] == HASH_MAP_NO_VALUE ? value : model[i];
        } else {
            CHECK_EQUAL(hash_map_set(&map, model_key(i), value), 0);
            model[i] = value;
        }
        if (round % 5000 == 0)
            compare_with_model(&map, model);
    }
    compare_with_model(&map, model);
    hash_map_deinit(&map);
}

static void check_notices_damage(void)
{
    struct hash_map map;
    struct hash_map_slot *slot;

    CHECK_EQUAL(hash_map_init(&map, 0), 0);
    CHECK_EQUAL(hash_map_insert(&map, 42, 1), 0);
    slot = (struct hash_map_slot *)hash_map_find_slot(map.table, 42);
    CHECK(hash_map_check(&map));
    slot->value = HASH_MAP_NO_VALUE;
    CHECK(!hash_map_check(&map));
    slot->value = 1;
    slot = &map.table->slots[(hash_map_first_index(map.table, 42) + 7) & map.table->mask];
    slot->key = 42;
    map.filled_count++;
    map.count++;
    CHECK(!hash_map_check(&map));
    slot->key = 0;
    map.filled_count--;
    map.count--;
    hash_map_deinit(&map);
}

/*
 * Readers and one writer. Keys below SHARED_KEYS / 2 are always there, the others come and go. A value is an object
 * that says whose it is and how new: a reader must find the key's own, complete, and never an older one than before.
 */
struct object {
    uint64_t key;
    uint64_t generation;
    uint64_t generation_again;
};

static struct hash_map shared_map;
static _Atomic bool writing;
static _Atomic uint64_t reader_passes[READERS];
static _Atomic size_t wrong_values;

static uint64_t shared_key(uint64_t index)
{
    return index * 64;
}

static void read_one(uint64_t index, uint64_t *newest)
{
    uint64_t value;

    if (hash_map_lookup(&shared_map, shared_key(index), &value)) {
        const struct object *object = (const struct object *)(uintptr_t)value;

        if (object->key != shared_key(index) || object->generation != object->generation_again ||
            object->generation < *newest)
            atomic_fetch_add_explicit(&wrong_values, 1, memory_order_relaxed);
        *newest = object->generation;
    } else if (index < SHARED_KEYS / 2) {
        atomic_fetch_add_explicit(&wrong_values, 1, memory_order_relaxed);
    }
}

static void *read_all(void *argument)
{
    _Atomic uint64_t *passes = argument;
    uint64_t newest[SHARED_KEYS] = {0};

    while (atomic_load_explicit(&writing, memory_order_acquire)) {
        for (uint64_t index = 0; index < SHARED_KEYS; index++)
            read_one(index, &newest[index]);
        /* Release: pairs with the writer's acquire before it frees retired tables. */
        atomic_fetch_add_explicit(passes, 1, memory_order_release);
    }
    atomic_store_explicit(passes, UINT64_MAX / 2, memory_order_release);
    return NULL;
}

static void wait_for_one_pass_of_each_reader(void)
{
    for (int i = 0; i < READERS; i++) {
        uint64_t seen = atomic_load_explicit(&reader_passes[i], memory_order_acquire);

        while (atomic_load_explicit(&reader_passes[i], memory_order_acquire) < seen + 2)
            sched_yield();
    }
}

static void write_one(struct object *object, uint64_t generation)
{
    uint64_t index = (uint64_t)rand() % SHARED_KEYS;

    *object = (struct object){shared_key(index), generation, generation};
    if (index >= SHARED_KEYS / 2 && rand() % 2 == 0)
        hash_map_remove(&shared_map, shared_key(index));
    else
        CHECK_EQUAL(hash_map_set(&shared_map, shared_key(index), (uintptr_t)object), 0);
    /* Keys that nobody reads, to make tables fill up and be rebuilt all the time. */
    CHECK_EQUAL(hash_map_set(&shared_map, shared_key(SHARED_KEYS + generation), 1), 0);
    hash_map_remove(&shared_map, shared_key(SHARED_KEYS + generation - generation % 700));
    hash_map_remove(&shared_map, shared_key(SHARED_KEYS + generation));
}

static void readers_see_old_or_new_values_and_nothing_else(void)
{
    static struct object objects[SHARED_KEYS + WRITES];
    pthread_t readers[READERS];
    size_t reclaimed = 0;

    CHECK_EQUAL(hash_map_init(&shared_map, 0), 0);
    for (uint64_t i = 0; i < SHARED_KEYS; i++) {
        objects[i] = (struct object){shared_key(i), 1, 1};
        CHECK_EQUAL(hash_map_set(&shared_map, shared_key(i), (uintptr_t)&objects[i]), 0);
    }
    atomic_store(&writing, true);
    for (int i = 0; i < READERS; i++)
        CHECK_EQUAL(pthread_create(&readers[i], NULL, read_all, &reader_passes[i]), 0);
    for (uint64_t generation = 2; generation < WRITES; generation++) {
        write_one(&objects[SHARED_KEYS + generation], generation);
        if (generation % (WRITES / 20) == 0) {
            struct hash_map_table *retired = hash_map_retired_take(&shared_map);

            wait_for_one_pass_of_each_reader();
            reclaimed += retired != NULL;
            hash_map_retired_free(retired);
        }
    }
    atomic_store_explicit(&writing, false, memory_order_release);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    CHECK_EQUAL(wrong_values, 0);
    CHECK(reclaimed > 3);
    CHECK(hash_map_check(&shared_map));
    hash_map_deinit(&shared_map);
}

static const struct check_case cases[] = {
    CHECK_CASE(keys_get_change_and_lose_values),
    CHECK_CASE(the_first_and_the_last_key_are_like_any_other),
    CHECK_CASE(the_value_that_marks_absence_is_refused),
    CHECK_CASE(growth_keeps_everything_and_retires_the_old_tables),
    CHECK_CASE(a_hint_makes_room_before_the_first_growth),
    CHECK_CASE(dead_slots_are_cleaned_up),
    CHECK_CASE(random_use_agrees_with_an_array),
    CHECK_CASE(check_notices_damage),
    CHECK_CASE(readers_see_old_or_new_values_and_nothing_else),
};

CHECK_MAIN(cases)
