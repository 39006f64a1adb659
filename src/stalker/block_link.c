/* SPDX-License-Identifier: MIT */
/*
 * Links between blocks. Invariant: an exit is in the list of the block that it is linked to, and in no other. The
 * branch itself is patched by the CPU's part, in one store, while threads run there.
 */
#include "stalker/block_link.h"

#include "arch/engine.h"
#include "base/counters.h"
#include "stalker/invalidate.h"
#include "stalker/observer.h"
#include "stalker/stalker_engine.h"

void block_link_note(struct block_exit *exit, struct block *to)
{
    exit->linked = to->index + 1;
    exit->next_incoming = to->incoming;
    to->incoming = block_exit_number(block_of_exit(exit), exit->which) + 1;
}

void block_link(struct code_cache *cache, struct block_exit *exit, struct block *to)
{
    if (exit->linked != 0 || !block_exit_is_linkable(exit) || cache->engine->options.without_links ||
        !block_may_link(cache, to))
        return;
    if (cache->engine->machine->emit->link(cache, exit, to) != 0)
        return;
    counter_add(COUNTER_blocks_linked, 1);
    observer_linked(cache, exit, to);
    block_link_note(exit, to);
}

void block_link_forget(struct code_cache *cache, struct block_exit *exit)
{
    uint32_t number = block_exit_number(block_of_exit(exit), exit->which) + 1;
    uint32_t *place;

    if (exit->linked == 0)
        return;
    place = &code_cache_linked(cache, exit)->incoming;
    while (*place != number)
        place = &code_cache_exit(cache, *place - 1)->next_incoming;
    *place = exit->next_incoming;
    exit->linked = 0;
}

void block_unlink(struct code_cache *cache, struct block_exit *exit)
{
    if (exit->linked == 0)
        return;
    block_link_forget(cache, exit);
    /* The stub is in reach: it was when the branch was written. */
    if (cache->engine->machine->emit->link(cache, exit, NULL) == 0)
        counter_add(COUNTER_blocks_unlinked, 1);
}

void block_unlink_incoming(struct code_cache *cache, struct block *block)
{
    while (block->incoming != 0)
        block_unlink(cache, code_cache_exit(cache, block->incoming - 1));
}
