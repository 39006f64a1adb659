/* SPDX-License-Identifier: MIT */
/*
 * From that time back, a function is open if it was entered at a depth that is lower than that of all records behind:
 * each of these would have ended it. So chunks without records at lower depths need not be read, and what a program
 * does for hours happens far above the depth of main.
 */
#include "trace/open_functions.h"

#include "hosted/growing_array.h"
#include "ring/event_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More cannot be shown anyway. */
#define OPEN_MAX (1u << 20)

struct passed_chunk {
    size_t piece;
    struct stream_place place;
    uint32_t lowest_depth;
    bool is_behind_gap;
};

struct open_search {
    int folder;
    const struct trace_file *pieces;
    struct passed_chunk *chunks;
    size_t count;
    size_t capacity;
    bool is_over; /* the chunk behind the last one was seen */
    struct trace_block_space space;
    struct event_blocks blocks;

    struct stream_reader reader;
    bool is_open;
    size_t open_piece;
    uint32_t limit; /* records behind have this depth, and higher ones */
    struct open_functions open;
    size_t open_capacity;
};

/* ---- forwards, over chunks --------------------------------------------------------------------------------------- */

static int note_chunk(struct open_search *search, const struct passed_chunk *chunk)
{
    if (ARRAY_RESERVE(search->chunks, search->capacity, search->count + 1) != 0)
        return -ENOMEM;
    search->chunks[search->count++] = *chunk;
    return 0;
}

static int open_piece(struct open_search *search, size_t piece)
{
    if (search->is_open && search->open_piece == piece)
        return 0;
    if (search->is_open)
        stream_reader_close(&search->reader);
    search->is_open = stream_reader_open(&search->reader, search->folder, search->pieces[piece].path, NULL) == 0;
    search->open_piece = piece;
    if (!search->is_open || search->reader.header.kind != TRACE_STREAM_INDEX ||
        search->reader.header.events != EVENTS_HOOKED)
        return -ENOTSUP;
    search->space.space = search->reader.header.space;
    return 0;
}

/* Behind the chunks of a piece that are all before: what comes next says whether they count. */
static int end_piece(struct open_search *search)
{
    struct stream_glance glance;
    struct stream_chunk chunk;

    if (stream_reader_glance(&search->reader, UINT64_MAX, &glance)) {
        search->is_over = true;
        if (glance.is_behind_gap)
            search->count = 0;
        return 0;
    }
    return !stream_reader_next(&search->reader, &chunk) && search->reader.end.state == STREAM_COMPLETE ? 0 : -ENOTSUP;
}

static int pass_piece(struct open_search *search, size_t piece, uint64_t before, uint64_t *next_sequence)
{
    struct stream_glance glance;
    int result = open_piece(search, piece);

    while (result == 0 && stream_reader_glance(&search->reader, before, &glance)) {
        struct passed_chunk chunk = {piece, stream_reader_place(&search->reader), glance.lowest_depth,
                                     glance.is_behind_gap};

        /* Pieces between may have been deleted. */
        chunk.is_behind_gap |= chunk.place.chunk_count == 0 && search->reader.end.first_sequence != *next_sequence;
        result = note_chunk(search, &chunk);
        stream_reader_pass(&search->reader);
        *next_sequence = search->reader.end.first_sequence + search->reader.end.chunk_count;
    }
    return result == 0 ? end_piece(search) : result;
}

/* ---- back, over records ------------------------------------------------------------------------------------------ */

static int note_open(struct open_search *search, const struct open_function *function)
{
    struct open_functions *open = &search->open;

    if (open->count >= OPEN_MAX || ARRAY_RESERVE(open->functions, search->open_capacity, open->count + 1) != 0)
        return -ENOMEM;
    open->functions[open->count++] = *function;
    return 0;
}

static int look_at(struct open_search *search, const uint8_t *place)
{
    struct open_function function;
    struct event_block block;
    uint32_t header;

    memcpy(&header, place, sizeof(header));
    memcpy(&function.depth, place + EVENT_DEPTH_OFFSET, sizeof(function.depth));
    memcpy(&function.time, place + EVENT_HOOK_BYTES - sizeof(function.time), sizeof(function.time));
    /* What is open on a stack that the thread comes back to has begun somewhere before. */
    if (function.depth & EVENT_HEIGHT || !event_record_is_hooked(event_header_record(header)) ||
        event_record_is_of_stack(event_header_record(header)))
        return -ENOTSUP;
    if (function.depth >= search->limit)
        return 0;
    search->limit = function.depth;
    if (event_header_record(header) != EVENT_RECORD_ENTER)
        return 0;
    if (!search->blocks.find(search->blocks.context, event_header_number(header), &block))
        return -ENOTSUP;
    function.location = block.start;
    return note_open(search, &function);
}

static int read_back(struct open_search *search, const struct passed_chunk *passed)
{
    struct stream_chunk chunk;
    int result = open_piece(search, passed->piece);

    if (result != 0)
        return result;
    stream_reader_return(&search->reader, passed->place);
    if (!stream_reader_next(&search->reader, &chunk) || chunk.size_bytes % EVENT_HOOK_BYTES != 0)
        return -ENOTSUP;
    for (size_t at = chunk.size_bytes; at > 0 && result == 0; at -= EVENT_HOOK_BYTES)
        result = look_at(search, chunk.bytes + at - EVENT_HOOK_BYTES);
    return result;
}

/* What was open before a gap has ended there, as far as anybody knows. */
static int go_back(struct open_search *search)
{
    int result = 0;

    search->limit = UINT32_MAX;
    for (size_t i = search->count; i-- > 0 && search->limit != 0 && result == 0;) {
        if (search->chunks[i].lowest_depth < search->limit)
            result = read_back(search, &search->chunks[i]);
        if (search->chunks[i].is_behind_gap)
            break;
    }
    return result;
}

static void turn_around(struct open_functions *open)
{
    for (size_t i = 0; i < open->count / 2; i++) {
        struct open_function moved = open->functions[i];

        open->functions[i] = open->functions[open->count - 1 - i];
        open->functions[open->count - 1 - i] = moved;
    }
}

int open_functions_find(struct open_functions *open, int folder, const struct trace_file *pieces, size_t piece_count,
                        const struct trace_blocks *blocks, uint64_t before)
{
    struct open_search search = {.folder = folder, .pieces = pieces, .space = {.blocks = blocks}};
    uint64_t next_sequence = 0;
    int result = 0;

    search.blocks = trace_blocks_of(&search.space);
    for (size_t i = 0; i < piece_count && result == 0 && !search.is_over; i++)
        result = pass_piece(&search, i, before, &next_sequence);
    if (result == 0)
        result = go_back(&search);
    if (search.is_open)
        stream_reader_close(&search.reader);
    free(search.chunks);
    if (result != 0) {
        free(search.open.functions);
        return result;
    }
    turn_around(&search.open);
    *open = search.open;
    return 0;
}

void open_functions_deinit(struct open_functions *open)
{
    free(open->functions);
    *open = (struct open_functions){.count = 0};
}
