/* SPDX-License-Identifier: MIT */
/*
 * One function per concept of the core, each folding what it sees into a checksum. Nothing that differs between two
 * runs (addresses, modes) goes in. Written without libc, since the image has none.
 */
#include "support/core_exercise.h"

#include "base/code_memory.h"
#include "base/counters.h"
#include "base/hash_map.h"
#include "base/interval_map.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/slab.h"
#include "base/text_format.h"
#include "base/text_parse.h"
#include "support/machine_code.h"

#define ROUNDS 2000

struct exercise {
    uint64_t random;
    uint64_t checksum;
    bool failed;
};

static void fold(struct exercise *exercise, uint64_t value)
{
    exercise->checksum = (exercise->checksum ^ value) * 0x100000001b3ull;
}

static void expect(struct exercise *exercise, bool condition)
{
    exercise->failed |= !condition;
}

static uint64_t next_random(struct exercise *exercise)
{
    exercise->random ^= exercise->random << 13;
    exercise->random ^= exercise->random >> 7;
    exercise->random ^= exercise->random << 17;
    return exercise->random;
}

static void fold_bytes(struct exercise *exercise, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fold(exercise, ((const uint8_t *)bytes)[i]);
}

static void exercise_hash_map(struct exercise *exercise)
{
    struct hash_map map;
    uint64_t value = 0;

    expect(exercise, hash_map_init(&map, 0) == 0);
    for (int i = 0; i < ROUNDS; i++)
        expect(exercise, hash_map_set(&map, next_random(exercise) % ROUNDS, (uint64_t)i) == 0);
    for (uint64_t key = 0; key < ROUNDS; key++) {
        if (key % 3 == 0)
            fold(exercise, hash_map_remove(&map, key));
        fold(exercise, hash_map_lookup(&map, key, &value) ? value : 1);
    }
    expect(exercise, hash_map_check(&map));
    hash_map_deinit(&map);
}

static void exercise_interval_map(struct exercise *exercise)
{
    struct interval_map map;

    interval_map_init(&map);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t start = next_random(exercise) % 100000, end = start + 1 + next_random(exercise) % 100;
        int result = next_random(exercise) % 2 == 0 ? interval_map_insert(&map, start, end, (uint64_t)i)
                                                    : interval_map_remove(&map, start, end);

        fold(exercise, (uint64_t)result);
    }
    for (size_t i = 0; i < interval_map_count(&map); i++)
        fold_bytes(exercise, interval_map_at(&map, i), sizeof(struct interval));
    interval_map_deinit(&map);
}

struct element {
    struct list_node node;
    uint64_t value;
};

static void exercise_pool_and_list(struct exercise *exercise)
{
    struct list_node list;
    struct pool pool;

    list_init(&list);
    expect(exercise, pool_init(&pool, sizeof(struct element)) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct element *element = pool_allocate(&pool);

        expect(exercise, element != NULL);
        element->node = (struct list_node){NULL, NULL};
        element->value = next_random(exercise);
        list_add_last(&list, &element->node);
    }
    LIST_FOR_EACH_REMOVABLE (node, &list) {
        struct element *element = LIST_ELEMENT(node, struct element, node);

        if (element->value % 2 == 0) {
            list_remove(node);
            pool_free(&pool, element);
        }
    }
    LIST_FOR_EACH (node, &list)
        fold(exercise, LIST_ELEMENT(node, struct element, node)->value);
    fold(exercise, pool_used_count(&pool));
    pool_deinit(&pool);
}

static void exercise_memory_functions(struct exercise *exercise)
{
    struct slab slab;

    slab_init(&slab, 0);
    for (int i = 0; i < 200; i++) {
        size_t size = next_random(exercise) % 500, shift = next_random(exercise) % 100;
        uint8_t *bytes = slab_allocate_zeroed(&slab, 2 * 600, 8);

        expect(exercise, bytes != NULL);
        for (size_t at = 0; at < 600; at++)
            bytes[at] = (uint8_t)next_random(exercise);
        __builtin_memmove(bytes + shift, bytes, size);
        __builtin_memcpy(bytes + 600, bytes, size);
        __builtin_memset(bytes + shift, (int)size, shift);
        fold(exercise, __builtin_memcmp(bytes + 600, bytes, size) > 0);
        fold_bytes(exercise, bytes, 1200);
    }
    slab_deinit(&slab);
}

static void exercise_text(struct exercise *exercise)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t number = next_random(exercise) >> i % 64, parsed = 0;
        char buffer[100];
        struct text_writer text;

        text_init(&text, buffer, sizeof(buffer));
        text_format(&text, "%-8s|%020lu|%#lx|%d|%c", i % 2 == 0 ? "even" : "odd", number, number, (int)number, 'x');
        fold_bytes(exercise, buffer, text.used);
        text_init(&text, buffer, sizeof(buffer));
        text_put_unsigned(&text, number);
        expect(exercise, text_parse_decimal(buffer, text.used, &parsed) == 0 && parsed == number);
    }
}

static void exercise_counters(struct exercise *exercise)
{
    uint64_t before = counter_read(COUNTER_code_overflows);

    counter_add(COUNTER_code_overflows, 3);
    fold(exercise, counter_read(COUNTER_code_overflows) - before);
    fold_bytes(exercise, counter_describe(COUNTER_code_overflows)->explanation, 10);
}

static void exercise_code_memory(struct exercise *exercise, enum code_view_mode mode)
{
    struct code_memory_options options = {.size_bytes = 65536, .mode = mode, .near = (uintptr_t)&core_exercise};
    struct code_memory *memory;
    struct code_writer writer;

    if (code_memory_create(&options, &memory) != 0 || code_memory_reserve(memory, 100, &writer) != 0) {
        exercise->failed = true;
        return;
    }
    machine_code_put_function(&writer, (uint16_t)next_random(exercise));
    expect(exercise, code_memory_commit(memory, &writer) == 0);
    fold(exercise, machine_code_call(writer.base_pc));
    expect(exercise,
           code_memory_patch(memory, cache_pc_of(writer.base_pc.value + MACHINE_CODE_PATCH_OFFSET),
                             machine_code_patch((uint16_t)next_random(exercise)), MACHINE_CODE_PATCH_BYTES) == 0);
    fold(exercise, machine_code_call(writer.base_pc));
    code_memory_destroy(memory);
}

uint64_t core_exercise(uint64_t seed)
{
    struct exercise exercise = {.random = seed | 1, .checksum = 0xcbf29ce484222325ull};

    exercise_hash_map(&exercise);
    exercise_interval_map(&exercise);
    exercise_pool_and_list(&exercise);
    exercise_memory_functions(&exercise);
    exercise_text(&exercise);
    exercise_counters(&exercise);
    for (enum code_view_mode mode = CODE_VIEW_AUTO; mode <= CODE_VIEW_FREEZE; mode++)
        exercise_code_memory(&exercise, mode);
    return exercise.failed ? 0 : exercise.checksum;
}
