/* SPDX-License-Identifier: MIT */
/*
 * An iterator is a cursor over the block under way. Invariants: instructions are put in order and at most once; a block
 * ends behind the last instruction that was visited.
 */
#include "stalker/transformer.h"

#include "arch/engine.h"
#include "ring/event_decoder.h"
#include "stalker/block_draft.h"
#include "stalker/callout.h"
#include "stalker/stalker_engine.h"

/* A visit needs that much room in hot and cold memory. */
#define HOT_ROOM_BYTES  1024
#define COLD_ROOM_BYTES 256

static const struct engine *machine_of(const struct gait_iterator *iterator)
{
    return iterator->translation->cache->engine->machine;
}

static bool has_room(const struct translation *translation)
{
    return code_writer_room(&translation->hot) >= HOT_ROOM_BYTES &&
           code_writer_room(&translation->cold) >= COLD_ROOM_BYTES;
}

bool iterator_next(struct gait_iterator *iterator)
{
    struct translation *translation = iterator->translation;

    if (iterator->visited == translation->block->insn_count)
        return false;
    if (iterator->visited > 0 && !has_room(translation))
        return false;
    iterator->visited++;
    iterator->is_kept = false;
    return true;
}

struct app_pc iterator_pc(const struct gait_iterator *iterator)
{
    const struct translation *translation = iterator->translation;
    uint64_t pc = translation->block->start.value;

    for (unsigned i = 0; i + 1 < iterator->visited; i++)
        pc += machine_of(iterator)->emit->insn_length(translation, i);
    return app_pc_of(pc);
}

unsigned iterator_length(const struct gait_iterator *iterator)
{
    return machine_of(iterator)->emit->insn_length(iterator->translation, iterator->visited - 1);
}

void iterator_keep(struct gait_iterator *iterator)
{
    if (iterator->visited == 0 || iterator->is_kept || !iterator->translation->is_open)
        return;
    iterator->is_kept = true;
    iterator->kept[(iterator->visited - 1) / 64] |= 1ull << (iterator->visited - 1) % 64;
    machine_of(iterator)->emit->put(iterator->translation, iterator->visited - 1);
}

/* Where what is put now stands: at the current instruction, or behind it once that is kept. */
static struct app_pc place_of(const struct gait_iterator *iterator)
{
    struct app_pc pc = iterator_pc(iterator);

    if (iterator->is_kept)
        pc.value += machine_of(iterator)->emit->insn_length(iterator->translation, iterator->visited - 1);
    return pc;
}

void iterator_put_callout(struct gait_iterator *iterator, gait_callout callout, void *data, bool is_general_only)
{
    struct translation *translation = iterator->translation;
    struct callout *new =
        slab_allocate_zeroed(&translation->cache->instruments, sizeof(*new), _Alignof(struct callout));

    if (new == NULL || !translation->is_open) {
        translation->hot.overflowed |= new == NULL;
        return;
    }
    *new = (struct callout){callout, data, place_of(iterator), is_general_only};
    machine_of(iterator)->emit->put_callout(translation, new);
}

void iterator_put_code(struct gait_iterator *iterator, const void *code, size_t size_bytes)
{
    if (iterator->translation->is_open)
        machine_of(iterator)->emit->put_code(iterator->translation, place_of(iterator), code, size_bytes);
}

void iterator_put_count(struct gait_iterator *iterator, uint64_t *counter)
{
    if (iterator->translation->is_open)
        machine_of(iterator)->emit->put_count(iterator->translation, place_of(iterator), counter);
}

uint64_t *iterator_new_counter(struct gait_iterator *iterator)
{
    return code_cache_new_counter(iterator->translation->cache, iterator->translation->slab);
}

void iterator_put_return(struct gait_iterator *iterator)
{
    if (iterator->translation->is_open)
        machine_of(iterator)->emit->put_return(iterator->translation, place_of(iterator));
}

/* The block ends behind what was visited. */
static void cut_block(struct gait_iterator *iterator)
{
    struct block *block = iterator->translation->block;
    uint32_t size = 0;

    if (iterator->visited == block->insn_count)
        return;
    for (unsigned i = 0; i < iterator->visited; i++)
        size += machine_of(iterator)->emit->insn_length(iterator->translation, i);
    block_set_original(block, iterator->visited, size,
                       machine_of(iterator)->emit->insn_length(iterator->translation, iterator->visited - 1));
    iterator->translation->draft->count = iterator->translation->block->insn_count;
    iterator->translation->draft->ends_bad = false;
}

/* Events of instructions are told by their block's lengths. */
static void note_left_out(const struct gait_iterator *iterator)
{
    const struct translation *translation = iterator->translation;
    struct block_notes *notes = code_cache_notes(translation->cache, translation->block);

    for (unsigned i = 0; notes != NULL && i < notes->length_count && i < translation->block->insn_count; i++)
        if (!(iterator->kept[i / 64] >> i % 64 & 1))
            block_notes_lengths(notes)[i] |= EVENT_INSN_LEFT_OUT;
}

void transformer_run(struct translation *translation)
{
    const struct gait_transformer *transformer = translation->cache->configuration.transformer;
    struct gait_iterator iterator = {.translation = translation};

    if (translation->block->insn_count == 0)
        return;
    transformer->transform(transformer->context, &iterator);
    /* One that looks at nothing has nothing against the block. */
    if (iterator.visited == 0)
        while (iterator_next(&iterator))
            iterator_keep(&iterator);
    cut_block(&iterator);
    note_left_out(&iterator);
}
