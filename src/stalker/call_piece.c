/* SPDX-License-Identifier: MIT */
/*
 * One piece for each place in the program that makes such children; there are few. Pieces never change and never go. In
 * front of each stands the segment base that it gives to children; where a thread has another one, the place gets
 * another piece.
 */
#include "stalker/call_piece.h"

#include "arch/engine.h"
#include "base/code_memory.h"
#include "stalker/stalker_engine.h"

#define MEMORY_BYTES (64u << 10)
#define PIECE_BYTES  128

int call_pieces_init(struct call_pieces *pieces)
{
    return hash_map_init(&pieces->by_pc, 16);
}

void call_pieces_deinit(struct call_pieces *pieces)
{
    code_memory_destroy(pieces->memory);
    hash_map_deinit(&pieces->by_pc);
}

void call_pieces_forget_shared(struct call_pieces *pieces)
{
    uint64_t cursor = 0, next, piece;

    if (pieces->memory == NULL || code_memory_mode(pieces->memory) != CODE_VIEW_DUAL)
        return;
    while (hash_map_next(&pieces->by_pc, &cursor, &next, &piece)) {
        hash_map_remove(&pieces->by_pc, next);
        cursor = 0;
    }
    code_memory_destroy(pieces->memory);
    pieces->memory = NULL;
}

static int make_memory(struct stalker_engine *engine)
{
    struct code_memory_options options = {.size_bytes = MEMORY_BYTES, .mode = engine->options.view};

    return code_memory_create(&options, &engine->pieces.memory);
}

static uint64_t base_of(uint64_t piece)
{
    return ((const uint64_t *)(uintptr_t)piece)[-1];
}

static int make_piece(struct stalker_engine *engine, struct app_pc next, uint64_t base, struct cache_pc *piece_out)
    REQUIRES(engine->pieces.lock)
{
    struct code_writer writer;
    int result = engine->pieces.memory == NULL ? make_memory(engine) : 0;

    if (result != 0)
        return result;
    result = code_memory_reserve(engine->pieces.memory, PIECE_BYTES, &writer);
    if (result != 0)
        return result;
    code_writer_put_u64(&writer, base);
    engine->machine->emit->put_call_piece(&writer, next, base);
    result = code_memory_commit(engine->pieces.memory, &writer);
    if (result != 0)
        return result;
    *piece_out = cache_pc_of(writer.base_pc.value + sizeof(base));
    return hash_map_set(&engine->pieces.by_pc, next.value, piece_out->value);
}

int call_piece_obtain(struct stalker_engine *engine, struct app_pc next, uint64_t base, struct cache_pc *piece_out)
{
    uint64_t found;
    int result = 0;

    mutex_lock(&engine->pieces.lock);
    if (hash_map_lookup(&engine->pieces.by_pc, next.value, &found) && base_of(found) == base)
        *piece_out = cache_pc_of(found);
    else
        result = make_piece(engine, next, base, piece_out);
    mutex_unlock(&engine->pieces.lock);
    return result;
}
