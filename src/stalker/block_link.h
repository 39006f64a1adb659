/* SPDX-License-Identifier: MIT */
/* Branches in one block that go straight to another. All under the cache's lock. */
#ifndef GAIT_STALKER_BLOCK_LINK_H
#define GAIT_STALKER_BLOCK_LINK_H

#include "stalker/code_cache.h"

/* Whether an exit can lead to a block at all. */
static inline bool block_exit_is_linkable(const struct block_exit *exit)
{
    return exit->kind == BLOCK_EXIT_JUMP || exit->kind == BLOCK_EXIT_ADJACENT;
}

/* Makes the exit go to the block, if it goes to its stub; patches the branch. Without room it stays as it is. */
void block_link(struct code_cache *cache, struct block_exit *exit, struct block *to) REQUIRES(cache->lock);

/* Notes that the exit goes to the block already. */
void block_link_note(struct block_exit *exit, struct block *to);

/* Takes the exit out of the list of the block that it goes to; the branch stays as it is, since nobody runs it. */
void block_link_forget(struct code_cache *cache, struct block_exit *exit) REQUIRES(cache->lock);

/* Makes the exit go to its stub. */
void block_unlink(struct code_cache *cache, struct block_exit *exit) REQUIRES(cache->lock);

/* Makes all exits that go to the block go to their stubs. */
void block_unlink_incoming(struct code_cache *cache, struct block *block) REQUIRES(cache->lock);

#endif
