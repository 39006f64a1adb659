/* SPDX-License-Identifier: MIT */
/*
 * Which thread has which state. Read without a lock, by any thread and in signal handlers; changed by one at a time,
 * who has the lock and all signals blocked. No libc.
 */
#ifndef GAIT_HOOK_THREAD_TABLE_H
#define GAIT_HOOK_THREAD_TABLE_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

struct thread_table {
    _Atomic uint64_t *places; /* tid, and index << 32 */
    uint32_t mask;
};

/* For at most `capacity` threads, a power of two. -ENOMEM. */
MUST_USE int thread_table_init(struct thread_table *table, uint32_t capacity);
void thread_table_deinit(struct thread_table *table);

/* False: it is not there. */
bool thread_table_find(const struct thread_table *table, uint32_t tid, uint32_t *index_out);

/* A tid that is not there. */
void thread_table_add(struct thread_table *table, uint32_t tid, uint32_t index);
void thread_table_remove(struct thread_table *table, uint32_t tid);
void thread_table_clear(struct thread_table *table);

#endif
