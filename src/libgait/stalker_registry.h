/* SPDX-License-Identifier: MIT */
/*
 * The stalkers that this program has, for those who change code beside them. Any thread; takes a lock of its own.
 */
#ifndef GAIT_LIBGAIT_STALKER_REGISTRY_H
#define GAIT_LIBGAIT_STALKER_REGISTRY_H

#include "base/list.h"

#include <stdbool.h>
#include <stdint.h>

struct stalker_engine;

/* Part of a stalker. */
struct registered_stalker {
    struct list_node node;
    struct stalker_engine *engine;
};

void stalker_registry_add(struct registered_stalker *stalker, struct stalker_engine *engine);
void stalker_registry_remove(struct registered_stalker *stalker);

/* Code in [start, end) has changed: all of them forget its translations. */
void stalker_registry_invalidate(uint64_t start, uint64_t end);

/* Whether there is none. */
bool stalker_registry_is_empty(void);

#endif
