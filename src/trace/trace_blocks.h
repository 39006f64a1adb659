/* SPDX-License-Identifier: MIT */
/*
 * What is known of the blocks of a process: its blocks.gait, in memory, for the decoder of events. Nothing in the file
 * is trusted. After reading it does not change: any number of threads may look then.
 */
#ifndef GAIT_TRACE_TRACE_BLOCKS_H
#define GAIT_TRACE_TRACE_BLOCKS_H

#include "base/hash_map.h"
#include "ring/event_decoder.h"
#include "trace/stream_reader.h"

struct trace_block;

struct trace_blocks {
    struct hash_map numbers; /* space and number -> index into blocks */
    struct trace_block *blocks;
    size_t count;
    size_t capacity;
    uint8_t *lengths; /* of instructions, of all blocks */
    size_t lengths_bytes;
    size_t lengths_capacity;
    struct stream_end end; /* how the stream ended: what was before is there */
};

/*
 * Reads the stream at that path of an open folder. What can be read of one that is cut off or damaged is read, which
 * blocks->end tells; it is an error if nothing can be read, or if a good chunk has blocks in it that are none. -ENOENT,
 * -EACCES, -EPROTO, -ENOMEM, with the reason in err. After an error nothing has to be given back.
 */
MUST_USE int trace_blocks_read(struct trace_blocks *blocks, int folder, const char *path, struct gait_error *err);
void trace_blocks_deinit(struct trace_blocks *blocks);

/* Block number `index` of those that were read, whatever its space: below blocks->count. */
struct event_block trace_blocks_at(const struct trace_blocks *blocks, size_t index);

/* The blocks of one space, for event_decoder_run. Both must outlive the use. */
struct trace_block_space {
    const struct trace_blocks *blocks;
    uint32_t space;
};

struct event_blocks trace_blocks_of(const struct trace_block_space *space);

#endif
