/* SPDX-License-Identifier: MIT */
/*
 * What the library has counted in this process, for logs and for questions: blocks that were translated, calls of
 * hooked functions whose return could not be seen, and others. Which counters there are is no part of the interface.
 */
#ifndef GAIT_COUNTER_H
#define GAIT_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The texts live as long as the library is loaded. */
struct gait_counter {
    size_t size_bytes; /* how much of this gait knows */
    const char *name;  /* "blocks_translated" */
    const char *unit;  /* "blocks" */
    const char *explanation;
    uint64_t value;
};

/* What it is given is good until it returns. False: no more are wanted. */
typedef bool (*gait_counter_visit)(void *context, const struct gait_counter *counter);

/*
 * Hands over all counters, one at a time. Each value is one that its counter had; together they need not be from one
 * moment. Callable from any thread, and in signal handlers. Nothing happens if visit is NULL.
 */
void gait_counters_read(gait_counter_visit visit, void *context);

#ifdef __cplusplus
}
#endif

#endif
