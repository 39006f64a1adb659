/* SPDX-License-Identifier: MIT */
/*
 * Packing the records of a chunk to a tenth and less: only what record_predictor.h does not guess is told. Every chunk
 * is packed on its own. docs/trace_format.md says how the result looks.
 */
#ifndef GAIT_TRACE_RECORD_PACKING_H
#define GAIT_TRACE_RECORD_PACKING_H

#include "base/attributes.h"
#include "ring/event_record.h"

#include <stddef.h>
#include <stdint.h>

/* Serves any number of chunks, in either direction; one thread at a time. */
struct record_predictor;

/* -ENOMEM. */
MUST_USE int record_predictor_create(struct record_predictor **predictor_out);
/* NULL is fine. */
void record_predictor_destroy(struct record_predictor *predictor);

/* Records, or what they were packed to. */
struct packing_source {
    const uint8_t *bytes;
    size_t size_bytes;
};

/* How much room packing so many bytes takes; the result is smaller. */
static inline size_t record_packing_room(size_t size_bytes)
{
    return 2 * size_bytes;
}

/* Packs whole records. -E2BIG: they would not get smaller, or are none; what is in `packed` then means nothing. */
MUST_USE int record_packing_do(struct record_predictor *predictor, struct event_format format,
                               struct packing_source records, uint8_t *packed, size_t *packed_bytes_out);

/* How many records those were that were packed the last time. */
uint64_t record_packing_count(const struct record_predictor *predictor);

/* The way back, to exactly records_bytes. Trusts nothing. -EPROTO: that is not what so many were packed to. */
MUST_USE int record_packing_undo(struct record_predictor *predictor, struct event_format format,
                                 struct packing_source packed, uint8_t *records, size_t records_bytes);

#endif
