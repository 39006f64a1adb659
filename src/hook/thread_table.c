/* SPDX-License-Identifier: MIT */
/*
 * Places are tried one after the other from where a tid belongs. One that was removed stays in the way of others, until
 * there is nothing behind it.
 */
#include "hook/thread_table.h"

#include "base/memory_map.h"

#include <stdatomic.h>
#include <stddef.h>

#define FREE    0u
#define REMOVED UINT32_MAX

int thread_table_init(struct thread_table *table, uint32_t capacity)
{
    void *storage;
    int result = memory_map((size_t)capacity * 2 * sizeof(uint64_t), &storage);

    if (result != 0)
        return result;
    table->places = storage;
    table->mask = capacity * 2 - 1;
    return 0;
}

void thread_table_deinit(struct thread_table *table)
{
    memory_unmap((void *)(uintptr_t)table->places, ((size_t)table->mask + 1) * sizeof(uint64_t));
    *table = (struct thread_table){0};
}

static _Atomic uint64_t *place_at(const struct thread_table *table, uint32_t tid, uint32_t distance)
{
    return &table->places[(tid * 2654435761u + distance) & table->mask];
}

static uint32_t tid_at(const _Atomic uint64_t *place)
{
    return (uint32_t)atomic_load_explicit(place, memory_order_relaxed);
}

bool thread_table_find(const struct thread_table *table, uint32_t tid, uint32_t *index_out)
{
    for (uint32_t i = 0; i <= table->mask; i++) {
        uint64_t word = atomic_load_explicit(place_at(table, tid, i), memory_order_acquire);

        if ((uint32_t)word == FREE)
            return false;
        if ((uint32_t)word == tid) {
            *index_out = (uint32_t)(word >> 32);
            return true;
        }
    }
    return false;
}

void thread_table_add(struct thread_table *table, uint32_t tid, uint32_t index)
{
    for (uint32_t i = 0; i <= table->mask; i++) {
        _Atomic uint64_t *place = place_at(table, tid, i);

        if (tid_at(place) == FREE || tid_at(place) == REMOVED) {
            atomic_store_explicit(place, (uint64_t)index << 32 | tid, memory_order_release);
            return;
        }
    }
}

static void free_if_last(struct thread_table *table, uint32_t tid, uint32_t distance)
{
    if (tid_at(place_at(table, tid, distance + 1)) != FREE)
        return;
    for (uint32_t i = 0; i <= table->mask; i++) {
        _Atomic uint64_t *place = place_at(table, tid, distance - i);

        if (tid_at(place) != REMOVED)
            return;
        atomic_store_explicit(place, FREE, memory_order_release);
    }
}

void thread_table_remove(struct thread_table *table, uint32_t tid)
{
    for (uint32_t i = 0; i <= table->mask; i++) {
        _Atomic uint64_t *place = place_at(table, tid, i);

        if (tid_at(place) == FREE)
            return;
        if (tid_at(place) == tid) {
            atomic_store_explicit(place, REMOVED, memory_order_release);
            free_if_last(table, tid, i);
            return;
        }
    }
}

void thread_table_clear(struct thread_table *table)
{
    for (uint32_t i = 0; i <= table->mask; i++)
        atomic_store_explicit(&table->places[i], FREE, memory_order_relaxed);
}
