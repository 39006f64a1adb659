/* SPDX-License-Identifier: MIT */
/*
 * The user's transformer and the iterator that it gets: what stands behind gait_iterator_*. Used while a block is being
 * translated, by the thread that translates it.
 */
#ifndef GAIT_STALKER_TRANSFORMER_H
#define GAIT_STALKER_TRANSFORMER_H

#include "gait/stalker.h"
#include "stalker/translation.h"

struct gait_iterator {
    struct translation *translation;
    unsigned visited;                    /* instructions; the last one of them is the current one */
    bool is_kept;                        /* the current instruction is put */
    uint64_t kept[BLOCK_INSNS_MAX / 64]; /* a bit for each instruction that is put */
};

/* Translates the decoded block as the cache's transformer wants it. */
void transformer_run(struct translation *translation) REQUIRES(translation->cache->lock);

/* As gait_iterator_*; the pc and the length are the current instruction's. */
bool iterator_next(struct gait_iterator *iterator);
struct app_pc iterator_pc(const struct gait_iterator *iterator);
unsigned iterator_length(const struct gait_iterator *iterator);
void iterator_keep(struct gait_iterator *iterator);
void iterator_put_callout(struct gait_iterator *iterator, gait_callout callout, void *data, bool is_general_only);
void iterator_put_code(struct gait_iterator *iterator, const void *code, size_t size_bytes);
void iterator_put_count(struct gait_iterator *iterator, uint64_t *counter);
uint64_t *iterator_new_counter(struct gait_iterator *iterator);
void iterator_put_return(struct gait_iterator *iterator);

#endif
