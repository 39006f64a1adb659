/* SPDX-License-Identifier: MIT */
/* A list under a lock, which is held while engines forget translations, so that none goes meanwhile. */
#include "libgait/stalker_registry.h"

#include "base/mutex.h"
#include "stalker/invalidate.h"

static struct mutex lock;
static struct list_node stalkers = {&stalkers, &stalkers};

void stalker_registry_add(struct registered_stalker *stalker, struct stalker_engine *engine)
{
    mutex_lock(&lock);
    list_init(&stalker->node);
    stalker->engine = engine;
    list_add_last(&stalkers, &stalker->node);
    mutex_unlock(&lock);
}

void stalker_registry_remove(struct registered_stalker *stalker)
{
    mutex_lock(&lock);
    list_remove(&stalker->node);
    mutex_unlock(&lock);
}

void stalker_registry_invalidate(uint64_t start, uint64_t end)
{
    mutex_lock(&lock);
    LIST_FOR_EACH (node, &stalkers)
        stalker_invalidate(LIST_ELEMENT(node, struct registered_stalker, node)->engine, start, end);
    mutex_unlock(&lock);
}

bool stalker_registry_is_empty(void)
{
    bool is_empty;

    mutex_lock(&lock);
    is_empty = list_is_empty(&stalkers);
    mutex_unlock(&lock);
    return is_empty;
}
