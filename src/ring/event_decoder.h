/* SPDX-License-Identifier: MIT */
/*
 * From one thread's records to its events. What a record leaves out is found in its block; the depth of calls and
 * returns is found by keeping the calls that have not returned. Trusts nothing that it reads: records may come from
 * memory that another process writes. No lock; one user at a time.
 */
#ifndef GAIT_RING_EVENT_DECODER_H
#define GAIT_RING_EVENT_DECODER_H

#include "base/attributes.h"
#include "gait/stalker.h"
#include "ring/event_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With the length of an instruction: a transformer left it out, so it never runs. */
#define EVENT_INSN_LEFT_OUT 0x80u

/* What is known of a block. */
struct event_block {
    uint64_t start;
    uint64_t call_target; /* of a block that ends with a direct call */
    uint32_t size_bytes;
    uint32_t last_insn_bytes;
    uint32_t insn_count;
    const uint8_t *insn_lengths; /* NULL: not known */
};

/* Finds blocks by their number. False: there is none. */
struct event_blocks {
    bool (*find)(const void *context, uint32_t number, struct event_block *block_out);
    const void *context;
};

/* Takes a batch of events. Nonzero: it wants no more. */
struct event_receiver {
    int (*process)(void *context, const struct gait_event *events, size_t count);
    void *context;
};

/* A call that has not returned yet. */
struct event_frame {
    uint64_t return_address;
    uint64_t sp; /* where it is */
};

/* Blocks that were found lately: most records name one of them. Numbers never come to mean another block. */
#define EVENT_RECENT_BLOCKS 256u

struct event_recent_block {
    uint32_t number; /* 1 + the block's; 0: none */
    struct event_block block;
};

/* All zero is a decoder at its beginning, but for what is to be filled in first. */
struct event_decoder {
    uint32_t wanted; /* of enum gait_event_kind */
    uint32_t tid;
    bool with_times;
    bool is_whole;  /* from the thread's first instruction on: a return has a call, perhaps one of quiet code that was
                       not recorded */
    bool is_closed; /* the receiver wants no more */
    struct event_receiver receiver;

    int32_t depth_below; /* how far returns went above where following began: 0 or negative */
    struct event_frame *frames;
    size_t frame_count;
    size_t frame_capacity;
    struct event_block told; /* whose instructions are emitted when it is known that it was not cut */
    uint64_t emitted_time;
    bool has_emitted;
    struct event_recent_block recent[EVENT_RECENT_BLOCKS];
};

/* From now on numbers are those of other blocks. */
void event_decoder_forget_blocks(struct event_decoder *decoder);

/* Gives back what it allocated. */
void event_decoder_deinit(struct event_decoder *decoder);

/*
 * Turns the records at `place`, up to `end` or the first that is not written, into events for the receiver. Returns the
 * place behind what was taken: less than that if the receiver has enough, or, with -EPROTO in *error_out, where there
 * is no record. The instructions of the last block wait for what comes next.
 */
const uint8_t *event_decoder_run(struct event_decoder *decoder, const struct event_blocks *blocks, const uint8_t *place,
                                 const uint8_t *end, int *error_out);

/* Where the records that are written so far end: before `end`, before one that is not written, or what is none. */
const uint8_t *event_records_end(struct event_format format, const uint8_t *place, const uint8_t *end);

/* Hands over what waits: nothing cuts the last block any more. */
void event_decoder_finish(struct event_decoder *decoder);

#endif
