/* SPDX-License-Identifier: MIT */
/* Blocks and lengths stand in two arrays that grow, so that blocks name their lengths by position. */
#include "trace/trace_blocks.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "ring/ring_layout.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_AT_FIRST 1024

struct trace_block {
    uint64_t start;
    uint64_t call_target;
    uint32_t code_bytes;
    uint32_t last_insn_bytes;
    uint32_t lengths_count;
    uint64_t lengths_at;
};

static uint64_t key_of(uint32_t space, uint32_t number)
{
    return (uint64_t)space << 32 | number;
}

static int add(struct trace_blocks *blocks, const struct ring_block *block, const uint8_t *lengths)
{
    size_t lengths_end = blocks->lengths_bytes + block->lengths_count;
    int result = ARRAY_RESERVE(blocks->blocks, blocks->capacity, blocks->count + 1);

    if (result == 0)
        result = ARRAY_RESERVE(blocks->lengths, blocks->lengths_capacity, lengths_end);
    if (result == 0)
        result = hash_map_insert(&blocks->numbers, key_of(block->space, block->number), blocks->count);
    if (result != 0)
        return result;
    if (block->lengths_count > 0)
        memcpy(blocks->lengths + blocks->lengths_bytes, lengths, block->lengths_count);
    blocks->blocks[blocks->count++] = (struct trace_block){
        .start = block->start,
        .call_target = block->call_target,
        .code_bytes = block->code_bytes,
        .last_insn_bytes = block->last_insn_bytes,
        .lengths_count = block->lengths_count,
        .lengths_at = blocks->lengths_bytes,
    };
    blocks->lengths_bytes = lengths_end;
    return 0;
}

/* Whether all that the block claims to have is there. */
static bool is_possible(const struct ring_block *block, size_t available)
{
    return block->size_bytes <= available && block->size_bytes >= sizeof(*block) &&
           block->size_bytes % TRACE_ALIGNMENT == 0 && block->lengths_count <= block->size_bytes - sizeof(*block) &&
           block->last_insn_bytes <= block->code_bytes && block->number <= EVENT_NUMBER_MAX;
}

static int read_chunk(struct trace_blocks *blocks, const struct stream_chunk *chunk, const char *path,
                      struct gait_error *err)
{
    struct ring_block block;
    int result;

    for (size_t at = 0; at < chunk->size_bytes; at += block.size_bytes) {
        size_t available = chunk->size_bytes - at;

        if (available >= sizeof(block))
            memcpy(&block, chunk->bytes + at, sizeof(block));
        if (available < sizeof(block) || !is_possible(&block, available))
            return error_set(err, EPROTO,
                             "cannot read '%s': byte %zu of chunk %" PRIu64 " begins no block; it was written by "
                             "something else than gait",
                             path, at, chunk->sequence);
        result = add(blocks, &block, chunk->bytes + at + sizeof(block));
        if (result == -EEXIST)
            return error_set(err, EPROTO,
                             "cannot read '%s': block %" PRIu32 " of space %" PRIu32 " comes twice, again in chunk "
                             "%" PRIu64 "; it was written by something else than gait",
                             path, block.number, block.space, chunk->sequence);
        if (result != 0)
            return error_set(err, result, "cannot read '%s': there is no memory for its blocks; try to free some",
                             path);
    }
    return 0;
}

int trace_blocks_read(struct trace_blocks *blocks, int folder, const char *path, struct gait_error *err)
{
    struct stream_reader reader;
    struct stream_chunk chunk;
    int result = stream_reader_open(&reader, folder, path, err);

    if (result != 0)
        return result;
    *blocks = (struct trace_blocks){.count = 0};
    result = hash_map_init(&blocks->numbers, BLOCKS_AT_FIRST);
    if (result != 0) {
        stream_reader_close(&reader);
        return error_set(err, result, "cannot read '%s': there is no memory for its blocks; try to free some", path);
    }
    if (reader.header.kind != TRACE_STREAM_BLOCKS)
        result = error_set(err, EPROTO, "cannot read '%s': it is a stream, but not one of blocks; files were mixed up",
                           path);
    while (result == 0 && stream_reader_next(&reader, &chunk)) {
        result = read_chunk(blocks, &chunk, path, err);
        /* Nobody looks yet. */
        hash_map_reclaim(&blocks->numbers);
    }
    blocks->end = reader.end;
    stream_reader_close(&reader);
    if (result != 0)
        trace_blocks_deinit(blocks);
    return result;
}

void trace_blocks_deinit(struct trace_blocks *blocks)
{
    hash_map_deinit(&blocks->numbers);
    free(blocks->blocks);
    free(blocks->lengths);
    *blocks = (struct trace_blocks){.count = 0};
}

struct event_block trace_blocks_at(const struct trace_blocks *blocks, size_t index)
{
    const struct trace_block *block = &blocks->blocks[index];

    return (struct event_block){
        .start = block->start,
        .call_target = block->call_target,
        .size_bytes = block->code_bytes,
        .last_insn_bytes = block->last_insn_bytes,
        .insn_count = block->lengths_count,
        .insn_lengths = block->lengths_count == 0 ? NULL : blocks->lengths + block->lengths_at,
    };
}

static bool find(const void *context, uint32_t number, struct event_block *block_out)
{
    const struct trace_block_space *space = context;
    uint64_t index;

    if (!hash_map_lookup(&space->blocks->numbers, key_of(space->space, number), &index))
        return false;
    *block_out = trace_blocks_at(space->blocks, index);
    return true;
}

struct event_blocks trace_blocks_of(const struct trace_block_space *space)
{
    return (struct event_blocks){find, space};
}
