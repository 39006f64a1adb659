/* SPDX-License-Identifier: MIT */
#include "syscalls/program_memories.h"

#include "ring/detail_value.h"

#include <string.h>

/* A piece: so many bytes at an address. */
struct recorded_piece {
    uint64_t address;
    const uint8_t *bytes;
    size_t size_bytes;
    bool is_ended; /* a string, whose NUL is behind its bytes */
};

/* Addresses and what is there follow each other; whatever else stands there is passed over. */
static bool next_piece(const struct detail_values *values, size_t *at, struct recorded_piece *piece_out)
{
    struct detail_value value;
    const uint8_t *data;
    bool has_address = false;

    while (detail_value_next(values->bytes, values->size_bytes, at, &value, &data)) {
        if (value.type == DETAIL_TYPE_POINTER && value.data_bytes == sizeof(piece_out->address)) {
            memcpy(&piece_out->address, data, sizeof(piece_out->address));
            has_address = true;
            continue;
        }
        if (has_address && (value.type == DETAIL_TYPE_STRING || value.type == DETAIL_TYPE_BUFFER) &&
            !(value.flags & (DETAIL_VALUE_UNREADABLE | DETAIL_VALUE_LEFT_OUT))) {
            piece_out->bytes = data;
            piece_out->size_bytes = value.data_bytes;
            piece_out->is_ended = value.type == DETAIL_TYPE_STRING && !(value.flags & DETAIL_VALUE_CLIPPED);
            return true;
        }
        has_address = false;
    }
    return false;
}

static size_t copy(const struct recorded_piece *piece, uint64_t within, uint8_t *bytes_out, size_t size_bytes)
{
    size_t count = piece->size_bytes - (size_t)within;

    if (count > size_bytes)
        count = size_bytes;
    memcpy(bytes_out, piece->bytes + within, count);
    if (count < size_bytes && piece->is_ended)
        bytes_out[count++] = '\0';
    return count;
}

/* Of several pieces the one that has most of it. */
static size_t read_memory(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    const struct recorded_memory *memory = context;
    struct recorded_piece piece;
    size_t at = 0, best = 0;

    while (best < size_bytes && next_piece(&memory->values, &at, &piece)) {
        uint64_t within = address - piece.address, there = piece.size_bytes + piece.is_ended;

        if (within < there && there - within > best)
            best = copy(&piece, within, bytes_out, size_bytes);
    }
    return best;
}

void recorded_memory_init(struct recorded_memory *memory, struct detail_values values)
{
    memory->values = values;
    memory->memory = (struct call_memory){read_memory, memory};
}
