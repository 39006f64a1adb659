/* SPDX-License-Identifier: MIT */
/*
 * Links between blocks. Invariant: an exit is in the list of the block that it is linked to, and in no other. The
 * branch itself is patched by the translator, in one store, while threads run there.
 */
#include "stalker/block_link.h"

#include "base/counters.h"
#include "stalker/engine.h"
#include "stalker/invalidate.h"
#include "stalker/observer.h"
#include "stalker/translation.h"
#include "stalker/translator.h"

void block_link_note(struct block_exit *exit, struct block *to)
{
    exit->linked = to;
    exit->next_incoming = to->incoming;
    to->incoming = exit;
}

void block_link(struct code_cache *cache, struct block_exit *exit, struct block *to)
{
    if (exit->linked != NULL || !block_exit_is_linkable(exit) || cache->engine->options.without_links ||
        !block_may_link(cache, to))
        return;
    if (cache->engine->translator->link(&(struct translation){.cache = cache}, exit, to) != 0)
        return;
    counter_add(COUNTER_blocks_linked, 1);
    observer_linked(cache, exit, to);
    block_link_note(exit, to);
}

void block_link_forget(struct block_exit *exit)
{
    struct block_exit **place;

    if (exit->linked == NULL)
        return;
    for (place = &exit->linked->incoming; *place != exit; place = &(*place)->next_incoming)
        ;
    *place = exit->next_incoming;
    exit->linked = NULL;
}

void block_unlink(struct code_cache *cache, struct block_exit *exit)
{
    if (exit->linked == NULL)
        return;
    block_link_forget(exit);
    /* The stub is in reach: it was when the branch was written. */
    if (cache->engine->translator->link(&(struct translation){.cache = cache}, exit, NULL) == 0)
        counter_add(COUNTER_blocks_unlinked, 1);
}

void block_unlink_incoming(struct code_cache *cache, struct block *block)
{
    while (block->incoming != NULL)
        block_unlink(cache, block->incoming);
}
