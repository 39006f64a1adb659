/* SPDX-License-Identifier: MIT */
/*
 * A unit is translated into two reservations, committed, and its blocks published and linked. When it does not fit, it
 * is tried again with shorter blocks. Invariant: nothing is visible to other threads before all of it is complete.
 */
#include "stalker/unit.h"

#include "arch/engine.h"
#include "base/code_memory.h"
#include "base/counters.h"
#include "gait/stalker.h"
#include "stalker/block_draft.h"
#include "stalker/block_link.h"
#include "stalker/call_probe.h"
#include "stalker/code_place.h"
#include "stalker/invalidate.h"
#include "stalker/reclaim.h"
#include "stalker/stalker_engine.h"
#include "stalker/transformer.h"
#include "stalker/translation.h"

#include <asm/errno.h>

#define HOT_BYTES         (16u << 10)
#define COLD_BYTES        (4u << 10)
#define LANDING_BYTES_MAX 192

/* As a block keeps them. */
_Static_assert(HOT_BYTES <= UINT16_MAX, "a block's code has places that its exits cannot name");
_Static_assert(LANDING_BYTES_MAX <= UINT8_MAX, "a landing is longer than a block can say");

/* With less left than this, somebody looks what comes next. */
#define SOURCE_REST_BYTES 1024

/* With less room than this a unit does not go on. */
#define HOT_REST_BYTES (8u << 10)

enum block_exit_kind translation_continue(struct translation *translation, struct app_pc next)
{
    const struct stalker_engine_options *options = &translation->cache->engine->options;

    if (options->without_links || options->without_adjacent || options->trust > 0)
        return BLOCK_EXIT_JUMP;
    if (translation->block_count >= (options->program_entry == 0 ? UNIT_BLOCKS_MAX : UNIT_BLOCKS_BEFORE) ||
        code_writer_room(&translation->hot) < HOT_REST_BYTES || code_cache_find(translation->cache, next) != NULL)
        return BLOCK_EXIT_JUMP;
    translation->goes_on = true;
    return BLOCK_EXIT_ADJACENT;
}

size_t translation_source_bytes(struct translation *translation, bool *is_changeable_out)
{
    uint64_t start = translation->block->start.value;

    /* Blocks of a unit follow each other. */
    if (translation->source_end - start < SOURCE_REST_BYTES) {
        size_t bytes = code_source_bytes(&translation->cache->engine->source, translation->block->start,
                                         &translation->is_changeable);

        translation->source_end = start + bytes;
    }
    *is_changeable_out = translation->is_changeable;
    return (size_t)(translation->source_end - start);
}

static const struct engine *machine_of(const struct translation *translation)
{
    return translation->cache->engine->machine;
}

static int begin_block(struct translation *translation, struct app_pc start)
    REQUIRES(translation->cache->engine->translation_lock)
{
    struct block *block = code_cache_new_block(translation->cache);
    bool is_native, changes_cache;
    struct app_pc watched;

    if (block == NULL)
        return -ENOMEM;
    if (start.value == translation->cache->engine->options.program_entry)
        translation->cache->engine->options.program_entry = 0;
    block->start = start;
    block->slab = (uint16_t)(translation->slab->number + 1);
    translation->block = block;
    translation->blocks[translation->block_count++] = block;
    translation->goes_on = false;
    is_native = stalker_engine_is_native(translation->cache->engine, start);
    changes_cache = !is_native && exclusion_changes_cache(translation->cache, start);
    translation->is_native = is_native;
    translation->changes_cache = changes_cache;
    translation->is_decoded = !is_native && !changes_cache;
    block->is_quiet = quiet_range_find(translation->cache->engine, start, &translation->quiet_border);
    watched = call_probe_border(translation->cache->engine, start);
    if (watched.value < translation->quiet_border.value)
        translation->quiet_border = watched;
    /* So that forgetting what is there forgets this. */
    if (!translation->is_decoded)
        block->size_bytes = 1;
    return 0;
}

/*
 * What the translation is compared with later, if somebody does; and the lengths of its instructions, which are told
 * apart again when their events are read.
 */
static bool keep_notes(struct translation *translation)
{
    const struct code_cache *cache = translation->cache;
    struct block *block = translation->block;
    bool is_compared = cache->engine->options.trust > 0, has_lengths = cache->configuration.events & GAIT_EVENT_EXEC;
    struct block_notes *notes;

    if (block->insn_count == 0 || !(is_compared || has_lengths))
        return true;
    notes =
        code_cache_add_notes(cache, block, is_compared ? block->size_bytes : 0, has_lengths ? block->insn_count : 0);
    if (notes == NULL)
        return false;
    __builtin_memcpy(notes->bytes, (const void *)(uintptr_t)block->start.value, notes->snapshot_bytes);
    for (unsigned i = 0; i < notes->length_count; i++)
        notes->bytes[notes->snapshot_bytes + i] = (uint8_t)machine_of(translation)->emit->insn_length(translation, i);
    return true;
}

/* The landing of the block under way stands right before its entry. */
static void put_landing(struct translation *translation)
{
    struct block *block = translation->block;
    struct cache_pc landing = code_writer_pc(&translation->hot);

    machine_of(translation)->emit->put_landing(translation, NULL, block);
    block->entry = code_writer_pc(&translation->hot);
    block_set_landing(block, landing);
    block->landing_bytes = (uint8_t)(block->entry.value - landing.value);
}

/* Writes what stands before the first instruction. */
static void open_block(struct translation *translation)
{
    const struct engine_emit *emit = machine_of(translation)->emit;
    struct block *block = translation->block;

    translation->is_open = true;
    /*
     * The user's code may see all registers before the block overwrites them, or the block may turn out to be another
     * one by now.
     */
    translation->is_observed = !translation->is_decoded || translation->draft->is_checked ||
                               translation->cache->configuration.transformer != NULL ||
                               call_probe_is_at(translation->cache, block->start);
    block->entry = code_writer_pc(&translation->hot);
    if (translation->lands)
        put_landing(translation);
    if (translation->changes_cache) {
        block_draft_note(translation, block->start, trail_plain);
        emit->put_exit(translation, 0, BLOCK_EXIT_CHANGE_CACHE, block->start);
        translation->is_open = false;
    } else if (translation->draft->is_checked) {
        emit->put_source_check(translation);
    }
}

/* Writes how the block ends when nothing put so far ends it: it goes on to what follows. */
static void close_block(struct translation *translation)
{
    const struct engine_emit *emit = machine_of(translation)->emit;
    const struct block_draft *draft = translation->draft;
    struct app_pc end = block_end(translation->block);
    enum block_exit_kind kind;

    if (!translation->is_open || !translation->is_decoded)
        return;
    emit->put_counts(translation, end, false);
    block_draft_note(translation, end, trail_plain);
    emit->take_position(translation);
    block_draft_note(translation, end, trail_plain);
    emit->put_events_at_end(translation, end, ARCH_FLOW_NEXT);
    if (draft->ends_bad)
        kind = draft->ends_unknown ? BLOCK_EXIT_NO_CODE : BLOCK_EXIT_LEAVE;
    else
        kind = translation_continue(translation, end);
    emit->put_exit(translation, 0, kind, end);
}

static void put_contents(struct translation *translation)
{
    const struct engine_emit *emit = machine_of(translation)->emit;

    call_probe_put(translation);
    if (translation->is_native)
        emit->put_native(translation);
    else if (translation->cache->configuration.transformer != NULL)
        transformer_run(translation);
    else
        emit->put_all(translation);
}

static void write_block(struct translation *translation)
{
    struct block *block = translation->block;

    if (translation->is_decoded)
        machine_of(translation)->emit->decode(translation);
    else
        block_draft_begin_unknown(translation);
    /* What comes next, and is asked for when the block ends. */
    code_cache_prefetch(translation->cache, block_end(block));
    if (!keep_notes(translation))
        translation->hot.overflowed = true;
    open_block(translation);
    if (!translation->changes_cache)
        put_contents(translation);
    close_block(translation);
    block_draft_keep(translation);
}

static int write_unit(struct translation *translation, struct app_pc start)
    REQUIRES(translation->cache->engine->translation_lock)
{
    do {
        int result = begin_block(translation, start);

        if (result != 0)
            return result;
        write_block(translation);
        translation->lands = false;
        start = block_end(translation->block);
    } while (translation->goes_on && !code_writer_overflowed(&translation->hot));
    return 0;
}

static void drop_blocks(struct translation *translation)
{
    while (translation->block_count > 0) {
        struct block *block = translation->blocks[--translation->block_count];

        for (unsigned i = 0; i < BLOCK_EXIT_COUNT; i++)
            translation->slab->stubs_owed -=
                block->exits[i].kind == BLOCK_EXIT_ADJACENT && !block_exit_has_stub(&block->exits[i]);
        code_cache_drop_block(translation->cache, block);
    }
    translation->slab->notes_used = translation->notes_before;
}

static int commit(struct translation *translation)
{
    struct cache_slab *slab = translation->slab;
    int result = code_memory_commit(slab->cold, &translation->cold);

    if (result != 0) {
        code_memory_abort(slab->hot, &translation->hot);
        return result;
    }
    /* What is committed in cold memory already is lost if this fails, but nobody will run it. */
    return code_memory_commit(slab->hot, &translation->hot);
}

static int reserve(struct translation *translation, struct app_pc start)
{
    int result = code_cache_slab(translation->cache, start, HOT_BYTES, COLD_BYTES, &translation->slab);

    if (result != 0)
        return result;
    result = code_memory_reserve(translation->slab->hot, HOT_BYTES, &translation->hot);
    if (result != 0)
        return result;
    result = code_memory_reserve(translation->slab->cold, COLD_BYTES, &translation->cold);
    if (result != 0)
        code_memory_abort(translation->slab->hot, &translation->hot);
    return result;
}

static void abort_unit(struct translation *translation)
{
    code_memory_abort(translation->slab->hot, &translation->hot);
    code_memory_abort(translation->slab->cold, &translation->cold);
    drop_blocks(translation);
}

static int try_unit(struct translation *translation, struct app_pc start)
    REQUIRES(translation->cache->engine->translation_lock)
{
    int result = reserve(translation, start);

    if (result != 0)
        return result;
    translation->notes_before = translation->slab->notes_used;
    result = write_unit(translation, start);
    if (result == 0 && (code_writer_overflowed(&translation->hot) || code_writer_overflowed(&translation->cold)))
        result = -ENOSPC;
    if (result != 0) {
        abort_unit(translation);
        return result;
    }
    result = commit(translation);
    if (result != 0)
        drop_blocks(translation);
    return result;
}

static int publish(struct translation *translation)
{
    /* All of them first: threads run from one into the next. */
    for (unsigned i = 0; i < translation->block_count; i++) {
        int result = code_place_add(&translation->slab->hot_places, &translation->places[i]);

        if (result != 0)
            return result;
    }
    for (unsigned i = 0; i < translation->block_count; i++) {
        int result = code_cache_publish(translation->cache, translation->blocks[i]);

        /* All or nothing. */
        if (result != 0) {
            while (i-- > 0)
                block_retire(translation->cache, translation->blocks[i]);
            return result;
        }
        observer_translated(translation->cache, translation->blocks[i]);
    }
    counter_add(COUNTER_blocks_translated, translation->block_count);
    return 0;
}

/* Links what is known already: the unit's blocks to each other and to older ones. */
static void link_unit(struct translation *translation)
{
    for (unsigned i = 0; i < translation->block_count; i++) {
        struct block *block = translation->blocks[i];

        for (unsigned which = 0; which < BLOCK_EXIT_COUNT; which++) {
            struct block_exit *exit = &block->exits[which];
            struct block *to;

            if (!block_exit_is_linkable(exit))
                continue;
            if (exit->kind == BLOCK_EXIT_ADJACENT && i + 1 < translation->block_count) {
                block_link_note(exit, translation->blocks[i + 1]);
                continue;
            }
            to = code_cache_find(translation->cache, block_exit_target(exit));
            if (to != NULL)
                block_link(translation->cache, exit, to);
        }
    }
}

static int translate(struct translation *translation, struct app_pc start, bool lands)
    REQUIRES(translation->cache->engine->translation_lock)
{
    int result;

    translation->insn_limit = BLOCK_INSNS_MAX;
    do {
        translation->block_count = 0;
        translation->lands = lands;
        result = try_unit(translation, start);
        translation->insn_limit /= 2;
    } while (result == -ENOSPC && translation->insn_limit > 0);
    return result;
}

int unit_translate(struct code_cache *cache, struct app_pc start, bool lands, struct block **block_out)
{
    struct stalker_engine *engine = cache->engine;
    struct translation translation;
    size_t source_bytes;
    int result;

    translation_init(&translation, cache);
    translation.draft = engine->draft;
    source_bytes = code_source_bytes(&engine->source, start, &translation.is_changeable);
    translation.source_end = start.value + source_bytes;
    /* A slab near an address where nothing is could be mapped there, and its contents taken for code. */
    if (source_bytes == 0 && !stalker_engine_is_native(engine, start))
        return -EFAULT;
    reclaim_limit(cache);
    mutex_lock(&engine->translation_lock);
    result = translate(&translation, start, lands);
    mutex_unlock(&engine->translation_lock);
    if (result == 0)
        result = publish(&translation);
    if (result != 0)
        return result;
    link_unit(&translation);
    *block_out = translation.blocks[0];
    if (lands)
        code_cache_announce(cache, translation.blocks[0]);
    return 0;
}

static void put_cold_landing(struct translation *translation, struct block *block)
{
    const struct engine_emit *emit = machine_of(translation)->emit;
    struct code_writer *cold = &translation->cold;
    struct cold_piece piece;

    block_set_landing(block, code_writer_pc(cold));
    cold_piece_begin(&piece, block, cold);
    emit->put_landing(translation, &piece, block);
    emit->put_jump(cold, block->entry);
    if (cold_piece_end(&piece, translation->slab, cold) != 0)
        cold->overflowed = true;
}

int unit_add_landing(struct code_cache *cache, struct block *block)
{
    struct cache_slab *slab = code_cache_slab_of(cache, block);
    struct translation translation;
    int result;

    translation_init(&translation, cache);
    translation.slab = slab;
    translation.block = block;
    result = code_cache_reserve_cold(slab, LANDING_BYTES_MAX, &translation.cold);
    if (result != 0)
        return result;
    put_cold_landing(&translation, block);
    result = code_memory_commit(slab->cold, &translation.cold);
    if (result != 0)
        block->landing = 0;
    else
        code_cache_announce(cache, block);
    return result;
}

/* Translates what is not, and links all exits of the first one that lead to the second. */
static int prefetch_link(struct code_cache *cache, struct app_pc from, struct app_pc to) REQUIRES(cache->lock)
{
    struct block *source, *block = code_cache_find(cache, from);
    int result = block == NULL ? unit_translate(cache, from, false, &block) : 0;
    bool is_found = false;

    if (result == 0 && code_cache_find(cache, to) == NULL)
        result = unit_translate(cache, to, false, &block);
    if (result != 0)
        return result;
    /* The second may have taken the place of the first, where room is short. */
    source = code_cache_find(cache, from);
    block = code_cache_find(cache, to);
    for (unsigned which = 0; source != NULL && block != NULL && which < BLOCK_EXIT_COUNT; which++) {
        struct block_exit *exit = &source->exits[which];

        if (!block_exit_is_linkable(exit) || block_exit_target(exit).value != to.value)
            continue;
        block_link(cache, exit, block);
        is_found = true;
    }
    return is_found ? 0 : -ENOENT;
}

static int prefetch(struct code_cache *cache, struct app_pc start) REQUIRES(cache->lock)
{
    struct block *block;

    return code_cache_find(cache, start) == NULL ? unit_translate(cache, start, false, &block) : 0;
}

int unit_prefetch(struct stalker_engine *engine, const struct follow_configuration *configuration, struct app_pc start,
                  const struct app_pc *to)
{
    struct code_cache *cache;
    int result;

    mutex_lock(&engine->lock);
    result = stalker_engine_cache(engine, configuration, &cache);
    if (result == 0) {
        mutex_lock(&cache->lock);
        result = to == NULL ? prefetch(cache, start) : prefetch_link(cache, start, *to);
        mutex_unlock(&cache->lock);
    }
    mutex_unlock(&engine->lock);
    return result;
}
