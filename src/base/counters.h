/* SPDX-License-Identifier: MIT */
/*
 * Counts of what happened, for `gait stats` and reports. A counter is one line in counters.def. Counting is a relaxed
 * atomic addition: callable from any thread, in signal handlers and inside the target, but shared by all threads; what
 * happens millions of times a second is counted per thread and added here now and then.
 */
#ifndef GAIT_BASE_COUNTERS_H
#define GAIT_BASE_COUNTERS_H

#include "base/attributes.h"

#include <stdatomic.h>
#include <stdint.h>

enum counter {
#define COUNTER(name, unit, explanation, consequence) COUNTER_##name,
#include "base/counters.def"
#undef COUNTER
    COUNTER_COUNT
};

struct counter_description {
    const char *name;
    const char *unit;
    const char *explanation;
    const char *consequence; /* of a recording in which it is not zero, for its report; NULL: none that matters */
};

struct counters_snapshot {
    uint64_t values[COUNTER_COUNT];
};

/* Of the process: in memory of its own, or where counters_move has put them. Changed by counter_add only. */
extern _Atomic uint64_t *counter_values;

static inline void counter_add(enum counter counter, uint64_t amount)
{
    /* Relaxed: each counter stands alone. */
    atomic_fetch_add_explicit(&counter_values[counter], amount, memory_order_relaxed);
}

static inline uint64_t counter_read(enum counter counter)
{
    return atomic_load_explicit(&counter_values[counter], memory_order_relaxed);
}

/*
 * From now on counters are there, COUNTER_COUNT of them, with what was counted in the process's own memory added; NULL:
 * in its own memory, from zero on. No other thread may be counting.
 */
void counters_move(_Atomic uint64_t *values);

/* What a counter is called and means. The texts live forever. */
const struct counter_description *counter_describe(enum counter counter);

/* The counter of that name. -ENOENT. */
MUST_USE int counter_find(const char *name, enum counter *counter_out);

#endif
