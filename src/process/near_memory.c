/* SPDX-License-Identifier: MIT */
/*
 * Chunks are code memories that are written in one open reservation until they are committed: where memory cannot be
 * writable and executable at once, each commit ends a page, so there is one for many pieces. Invariants: a chunk is on
 * the list from its creation on; its live pieces are those that were ended and not released. No lock: the owner has it.
 * Neighbour: base/code_memory.c.
 */
#include "process/near_memory.h"

#include "base/code_memory.h"
#include "base/memory_map.h"

#include <asm/errno.h>

#define DEFAULT_CHUNK_BYTES ((size_t)256 * 1024)
#define PADDING_BYTE        0xcc

/* What instructions in a chunk may be away from the address that counts. */
#define REACH_SLACK ((uint64_t)1 << 20)

void near_memory_init(struct near_memory *memory, enum code_view_mode mode, size_t chunk_bytes)
{
    list_init(&memory->chunks);
    memory->mode = mode;
    memory->chunk_bytes = chunk_bytes == 0 ? DEFAULT_CHUNK_BYTES : memory_round_to_pages(chunk_bytes);
}

static struct near_chunk *chunk_of(struct list_node *node)
{
    return LIST_ELEMENT(node, struct near_chunk, node);
}

static void destroy_chunk(struct near_chunk *chunk)
{
    list_remove(&chunk->node);
    if (chunk->is_open)
        code_memory_abort(chunk->memory, &chunk->writer);
    code_memory_destroy(chunk->memory);
    memory_unmap(chunk, sizeof(*chunk));
}

void near_memory_deinit(struct near_memory *memory)
{
    LIST_FOR_EACH_REMOVABLE (node, &memory->chunks)
        destroy_chunk(chunk_of(node));
}

static bool reaches(const struct near_chunk *chunk, uint64_t address)
{
    return address_fits_rel32(chunk->start - REACH_SLACK, address) &&
           address_fits_rel32(chunk->start + REACH_SLACK, address) &&
           address_fits_rel32(chunk->end - REACH_SLACK, address) &&
           address_fits_rel32(chunk->end + REACH_SLACK, address);
}

static size_t room(const struct near_chunk *chunk)
{
    return chunk->is_open ? code_writer_room(&chunk->writer) : code_memory_room(chunk->memory);
}

static int create_chunk(struct near_memory *memory, uint64_t address, struct near_chunk **chunk_out)
{
    struct code_memory_options options = {memory->chunk_bytes, memory->mode, address};
    struct near_chunk *chunk;
    void *storage;
    int result = memory_map(sizeof(*chunk), &storage);

    if (result != 0)
        return result;
    chunk = storage;
    result = code_memory_create(&options, &chunk->memory);
    if (result != 0) {
        memory_unmap(storage, sizeof(*chunk));
        return result;
    }
    chunk->start = code_memory_start(chunk->memory).value;
    chunk->end = chunk->start + code_memory_size(chunk->memory);
    list_init(&chunk->pieces);
    list_add_first(&memory->chunks, &chunk->node);
    *chunk_out = chunk;
    return 0;
}

static struct near_chunk *find_chunk(struct near_memory *memory, uint64_t address, size_t capacity)
{
    LIST_FOR_EACH (node, &memory->chunks) {
        struct near_chunk *chunk = chunk_of(node);

        if (reaches(chunk, address) && room(chunk) >= capacity + CODE_MEMORY_ALIGNMENT)
            return chunk;
    }
    return NULL;
}

static int open_chunk(struct near_chunk *chunk)
{
    int result = code_memory_reserve(chunk->memory, code_memory_room(chunk->memory), &chunk->writer);

    chunk->is_open = result == 0;
    return result;
}

static void align(struct code_writer *writer)
{
    while (code_writer_pc(writer).value % CODE_MEMORY_ALIGNMENT != 0 && !code_writer_overflowed(writer))
        code_writer_put_u8(writer, PADDING_BYTE);
}

int near_memory_begin(struct near_memory *memory, uint64_t address, size_t capacity, struct near_chunk **chunk_out)
{
    struct near_chunk *chunk = find_chunk(memory, address, capacity);
    int result = 0;

    if (capacity + CODE_MEMORY_ALIGNMENT > memory->chunk_bytes)
        return -EINVAL;
    if (chunk == NULL)
        result = create_chunk(memory, address, &chunk);
    if (result == 0 && !reaches(chunk, address))
        return -ENOMEM;
    if (result == 0 && !chunk->is_open)
        result = open_chunk(chunk);
    if (result != 0)
        return result;
    align(&chunk->writer);
    chunk->piece_offset = code_writer_offset(&chunk->writer);
    *chunk_out = chunk;
    return 0;
}

void near_memory_cancel(struct near_chunk *chunk)
{
    chunk->writer.cursor = chunk->writer.start + chunk->piece_offset;
    chunk->writer.overflowed = false;
}

int near_memory_end(struct near_chunk *chunk, struct near_piece *piece)
{
    size_t offset = chunk->piece_offset;

    if (code_writer_overflowed(&chunk->writer)) {
        near_memory_cancel(chunk);
        return -ENOSPC;
    }
    *piece = (struct near_piece){
        .chunk = chunk,
        .start = chunk->writer.base_pc.value + offset,
        .size_bytes = (uint32_t)(code_writer_offset(&chunk->writer) - offset),
    };
    list_add_last(&chunk->pieces, &piece->node);
    chunk->live_count++;
    chunk->piece_count++;
    return 0;
}

int near_memory_commit(struct near_memory *memory)
{
    int first_error = 0;

    LIST_FOR_EACH (node, &memory->chunks) {
        struct near_chunk *chunk = chunk_of(node);
        int result;

        if (!chunk->is_open)
            continue;
        chunk->is_open = false;
        result = code_memory_commit(chunk->memory, &chunk->writer);
        if (first_error == 0)
            first_error = result;
    }
    return first_error;
}

void near_memory_release(struct near_piece *piece)
{
    if (piece->chunk == NULL || piece->is_released)
        return;
    piece->is_released = true;
    piece->chunk->live_count--;
}

static bool is_released(const struct near_chunk *chunk)
{
    return chunk->live_count == 0 && chunk->piece_count > 0 && !chunk->is_open;
}

bool near_memory_begin_reclaim(struct near_memory *memory, uint64_t *low_out, uint64_t *high_out)
{
    uint64_t low = UINT64_MAX, high = 0;

    LIST_FOR_EACH (node, &memory->chunks) {
        struct near_chunk *chunk = chunk_of(node);

        chunk->is_busy = !is_released(chunk);
        if (!chunk->is_busy) {
            low = chunk->start < low ? chunk->start : low;
            high = chunk->end > high ? chunk->end : high;
        }
    }
    *low_out = low;
    *high_out = high;
    return low < high;
}

void near_memory_note_busy(struct near_memory *memory, uint64_t address)
{
    LIST_FOR_EACH (node, &memory->chunks) {
        struct near_chunk *chunk = chunk_of(node);

        if (address >= chunk->start && address < chunk->end)
            chunk->is_busy = true;
    }
}

void near_memory_note_all_busy(struct near_memory *memory)
{
    LIST_FOR_EACH (node, &memory->chunks)
        chunk_of(node)->is_busy = true;
}

void near_memory_ask_busy(struct near_memory *memory, bool (*ask)(uint64_t start, uint64_t end))
{
    LIST_FOR_EACH (node, &memory->chunks)
        if (!chunk_of(node)->is_busy)
            chunk_of(node)->is_busy = ask(chunk_of(node)->start, chunk_of(node)->end);
}

static void forget_pieces(struct near_chunk *chunk, void (*forget)(void *context, struct near_piece *piece),
                          void *context)
{
    while (!list_is_empty(&chunk->pieces)) {
        struct near_piece *piece = LIST_ELEMENT(list_first(&chunk->pieces), struct near_piece, node);

        list_remove(&piece->node);
        piece->chunk = NULL;
        forget(context, piece);
    }
}

size_t near_memory_end_reclaim(struct near_memory *memory, void (*forget)(void *context, struct near_piece *piece),
                               void *context)
{
    size_t count = 0;

    LIST_FOR_EACH_REMOVABLE (node, &memory->chunks) {
        struct near_chunk *chunk = chunk_of(node);

        if (chunk->is_busy || !is_released(chunk))
            continue;
        forget_pieces(chunk, forget, context);
        destroy_chunk(chunk);
        count++;
    }
    return count;
}

bool near_memory_contains(const struct near_memory *memory, uint64_t address)
{
    LIST_FOR_EACH (node, (struct list_node *)&memory->chunks)
        if (address >= chunk_of(node)->start && address < chunk_of(node)->end)
            return true;
    return false;
}
