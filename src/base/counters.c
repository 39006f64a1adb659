/* SPDX-License-Identifier: MIT */
/*
 * The counters' values and descriptions, made from counters.def. Invariant: values only grow, by relaxed additions. The
 * agent moves them to its ring, where its controller reads them, also when the process was killed.
 */
#include "base/counters.h"

#include "base/text_parse.h"

#include <asm/errno.h>
#include <stddef.h>

static _Atomic uint64_t own_values[COUNTER_COUNT];
_Atomic uint64_t *counter_values = own_values;

static const struct counter_description descriptions[COUNTER_COUNT] = {
#define COUNTER(name, unit, explanation, consequence) {#name, unit, explanation, consequence},
#include "base/counters.def"
#undef COUNTER
};

void counters_move(_Atomic uint64_t *values)
{
    counter_values = values == NULL ? own_values : values;
    for (size_t i = 0; i < COUNTER_COUNT && values != NULL; i++)
        counter_add((enum counter)i, atomic_exchange_explicit(&own_values[i], 0, memory_order_relaxed));
}

const struct counter_description *counter_describe(enum counter counter)
{
    return &descriptions[counter];
}

int counter_find(const char *name, enum counter *counter_out)
{
    for (size_t i = 0; i < COUNTER_COUNT; i++) {
        if (text_equal(name, descriptions[i].name)) {
            *counter_out = (enum counter)i;
            return 0;
        }
    }
    return -ENOENT;
}
