/* SPDX-License-Identifier: MIT */
/*
 * Guesses at the next record of a thread, learnt from those before it. Whoever packs records and whoever unpacks them
 * run the same predictor over the same records, so that only what was guessed wrongly has to be told. That makes all of
 * this a part of the trace format: docs/trace_format.md says it in words.
 *
 * Nothing in here is checked, for nothing can be wrong: places in tables are masked, and a bad guess is only that.
 */
#ifndef GAIT_TRACE_RECORD_PREDICTOR_H
#define GAIT_TRACE_RECORD_PREDICTOR_H

#include "ring/event_record.h"

#include <stdint.h>
#include <string.h>

#define PREDICTOR_BITS_MIN 6u
#define PREDICTOR_BITS_MAX 13u
#define PREDICTOR_FRAMES   1024u
#define PREDICTOR_POPS_MAX 64u

/* What came the last time after such headers as came last, and what did before that. */
struct header_guess {
    uint32_t first;
    uint32_t second;
};

/* What is remembered of a block that called. */
struct block_guess {
    uint64_t frame_bytes; /* how far below the return address of the function that it is in it put its own */
    uint64_t returns_to;
    uint64_t target; /* of a call that can have several */
    uint64_t unused;
};

/* A call that has not returned yet. */
struct frame_guess {
    uint64_t sp;    /* where its return address is; of a hooked function: how many calls there are, with this one */
    uint32_t block; /* where in the table the one is that called: in bytes; of a hooked function: its header's number */
    uint32_t unused;
};

struct record_predictor {
    uint32_t history_shift; /* the highest bits of the history are the place in the table of headers */
    uint32_t block_mask;    /* of places in the table of blocks, in bytes */
    uint64_t record_count;  /* that were packed; no guess depends on it */
    struct header_guess headers[1u << PREDICTOR_BITS_MAX];
    struct block_guess blocks[1u << (PREDICTOR_BITS_MAX - 1)];
    struct frame_guess frames[PREDICTOR_FRAMES];
};

/* Where in a sequence of records the predictor is. Kept apart, for whoever runs it keeps it in registers. */
struct predictor_place {
    uint32_t history; /* the last headers, mixed: some six of them */
    uint32_t frame;   /* of the last call that has not returned: in bytes; runs around */
};

/* Forgets all. Tables get a size that suits so many bytes of records: what is large takes long to clear. */
static inline void predictor_reset(struct record_predictor *predictor, uint64_t raw_bytes)
{
    uint32_t bits = PREDICTOR_BITS_MIN;

    while (bits < PREDICTOR_BITS_MAX && raw_bytes >> (bits + 5) != 0)
        bits++;
    predictor->history_shift = 32 - bits;
    predictor->block_mask = (uint32_t)(((1u << (bits - 1)) - 1) * sizeof(predictor->blocks[0]));
    memset(predictor->headers, 0, sizeof(predictor->headers[0]) << bits);
    memset(predictor->blocks, 0, sizeof(predictor->blocks[0]) << (bits - 1));
    memset(predictor->frames, 0, sizeof(predictor->frames));
}

static inline struct header_guess *predictor_header(struct record_predictor *predictor, uint32_t history)
{
    return &predictor->headers[history >> predictor->history_shift];
}

static inline uint32_t predictor_history(uint32_t history, uint32_t header)
{
    return (history << 5) + header * 0x9e3779b1u;
}

/* Where the block of a record is in the table: its number times the size of what is there. */
static inline uint32_t predictor_block_place(const struct record_predictor *predictor, uint32_t header)
{
    _Static_assert(sizeof(struct block_guess) == 1u << (EVENT_KIND_BITS + 1), "the header twice, without its kind");
    return header << 1 & predictor->block_mask;
}

static inline struct block_guess *predictor_block(struct record_predictor *predictor, uint32_t place)
{
    return (struct block_guess *)(void *)((uint8_t *)predictor->blocks + place);
}

static inline struct frame_guess *predictor_frame(struct record_predictor *predictor, uint32_t place)
{
    return (struct frame_guess *)(void *)((uint8_t *)predictor->frames + place);
}

static inline uint32_t predictor_frame_above(uint32_t place)
{
    return (uint32_t)((place + sizeof(struct frame_guess)) % (PREDICTOR_FRAMES * sizeof(struct frame_guess)));
}

static inline uint32_t predictor_frame_below(uint32_t place)
{
    return (uint32_t)((place - sizeof(struct frame_guess)) % (PREDICTOR_FRAMES * sizeof(struct frame_guess)));
}

/* Notes a call made in a frame, and returns its own frame. */
static inline uint32_t predictor_call(struct record_predictor *predictor, uint32_t frame, uint32_t block, uint64_t sp)
{
    struct frame_guess *made;

    frame = predictor_frame_above(frame);
    made = predictor_frame(predictor, frame);
    made->sp = sp;
    made->block = block;
    return frame;
}

/* The guess at the target of a record that has one. */
static inline uint64_t *predictor_target(struct record_predictor *predictor, uint32_t frame, uint32_t block,
                                         enum event_record kind)
{
    if (event_record_has_sp(kind))
        return &predictor_block(predictor, block)->target;
    return &predictor_block(predictor, predictor_frame(predictor, frame)->block)->returns_to;
}

/*
 * Learns from a call whose sp was not as guessed. Returns the frame that it is made in: some may be gone, by a longjmp
 * or an exception.
 */
static inline uint32_t predictor_unwind(struct record_predictor *predictor, uint32_t frame, uint32_t block, uint64_t sp)
{
    uint64_t at = predictor_frame(predictor, frame)->sp;

    for (uint32_t i = 0; i < PREDICTOR_POPS_MAX && at != 0 && at <= sp; i++) {
        frame = predictor_frame_below(frame);
        at = predictor_frame(predictor, frame)->sp;
    }
    predictor_block(predictor, block)->frame_bytes = at - sp;
    return frame;
}

/* ---- hooked functions ---------------------------------------------------------------------------------------------
 */

/*
 * The table of headers has those of leaves without the function that is left if it is the one entered last. So whoever
 * calls something is guessed to be returned to, whatever it was that it called.
 */
static inline uint32_t predictor_hook_header(struct record_predictor *predictor, uint32_t frame, uint32_t header)
{
    if (event_header_record(header) == EVENT_RECORD_ENTER)
        return header;
    return header ^ predictor_frame(predictor, frame)->block;
}

/* The guess at the depth of a record. */
static inline uint32_t predictor_hook_depth(struct record_predictor *predictor, uint32_t frame, uint32_t header)
{
    uint32_t depth = (uint32_t)predictor_frame(predictor, frame)->sp;

    return event_header_record(header) == EVENT_RECORD_ENTER ? depth : depth - 1;
}

/* Notes a record. Returns the frame that what follows it is in. */
static inline uint32_t predictor_hook(struct record_predictor *predictor, uint32_t frame, uint32_t header,
                                      uint32_t depth)
{
    struct frame_guess *made;

    if (event_header_record(header) == EVENT_RECORD_ENTER) {
        frame = predictor_frame_above(frame);
        made = predictor_frame(predictor, frame);
        made->block = event_header(event_header_number(header), EVENT_RECORD_NONE);
        made->sp = (uint32_t)(depth + 1);
    } else {
        frame = predictor_frame_below(frame);
        predictor_frame(predictor, frame)->sp = depth;
    }
    return frame;
}

#endif
