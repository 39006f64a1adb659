/* SPDX-License-Identifier: MIT */
/*
 * Transformers that put calls and counters everywhere. The program must compute what it computes without them.
 */
#include "programs/runner/transformers.h"

#include "gait/stalker.h"

#include <string.h>

/* Modes that need what the library does not have yet are not in MODES; the others must link. */
#pragma weak gait_iterator_next
#pragma weak gait_iterator_keep
#pragma weak gait_iterator_put_callout
#pragma weak gait_iterator_put_count

static uint64_t callouts, blocks;
static volatile double from_callout;

/* Uses vector registers and flags, which the program must not notice. */
static void on_callout(struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    (void)data;
    callouts++;
    from_callout = (double)callouts * 1.5;
}

static GAIT_GENERAL_REGISTERS_ONLY void on_callout_general(struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    (void)data;
    callouts++;
}

static void callout_at_each(void *context, struct gait_iterator *iterator)
{
    (void)context;
    while (gait_iterator_next(iterator, NULL)) {
        gait_iterator_put_callout(iterator, on_callout, NULL, GAIT_CALLOUT_ANY);
        gait_iterator_keep(iterator);
    }
}

static void general_callout_at_each(void *context, struct gait_iterator *iterator)
{
    (void)context;
    while (gait_iterator_next(iterator, NULL)) {
        gait_iterator_put_callout(iterator, on_callout_general, NULL, GAIT_CALLOUT_GENERAL_ONLY);
        gait_iterator_keep(iterator);
    }
}

static void count_blocks(void *context, struct gait_iterator *iterator)
{
    (void)context;
    for (bool first = true; gait_iterator_next(iterator, NULL); first = false) {
        if (first)
            gait_iterator_put_count(iterator, &blocks);
        gait_iterator_keep(iterator);
    }
}

static const struct {
    const char *name;
    struct gait_transformer transformer;
} transformers[] = {
    {"callouts", {callout_at_each, NULL}},
    {"general_callouts", {general_callout_at_each, NULL}},
    {"block_counter", {count_blocks, NULL}},
};

const struct gait_transformer *transformer_find(const char *name)
{
    for (size_t i = 0; i < sizeof(transformers) / sizeof(transformers[0]); i++)
        if (strcmp(transformers[i].name, name) == 0)
            return &transformers[i].transformer;
    return NULL;
}
