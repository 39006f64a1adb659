/* SPDX-License-Identifier: MIT */
/* The counters' values and descriptions, made from counters.def. Invariant: values only grow, by relaxed additions. */
#include "base/counters.h"

#include "base/text_parse.h"

#include <asm/errno.h>
#include <stddef.h>

_Atomic uint64_t counter_values[COUNTER_COUNT];

static const struct counter_description descriptions[COUNTER_COUNT] = {
#define COUNTER(name, unit, explanation) {#name, unit, explanation},
#include "base/counters.def"
#undef COUNTER
};

void counters_read(struct counters_snapshot *snapshot_out)
{
    for (size_t i = 0; i < COUNTER_COUNT; i++)
        snapshot_out->values[i] = counter_read((enum counter)i);
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
