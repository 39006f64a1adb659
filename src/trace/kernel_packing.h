/* SPDX-License-Identifier: MIT */
/*
 * Packing the kernel's events of a chunk to a tenth: what is as it was at the last event of the same source is not told
 * again. Every chunk is packed on its own. docs/trace_format.md says how the result looks.
 */
#ifndef GAIT_TRACE_KERNEL_PACKING_H
#define GAIT_TRACE_KERNEL_PACKING_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

struct kernel_event;

/* Serves any number of chunks, in either direction, one after the other; one thread at a time. */
struct kernel_predictor;

/* -ENOMEM. */
MUST_USE int kernel_predictor_create(struct kernel_predictor **predictor_out);
/* NULL is fine. */
void kernel_predictor_destroy(struct kernel_predictor *predictor);

/* What one event is packed to at most, with what is written behind it and not used. */
#define KERNEL_PACKED_BYTES_MAX 98304u

/* Before the first event of a chunk: what was told before is forgotten. */
void kernel_packing_begin(struct kernel_predictor *predictor);

/*
 * Packs the next event of the chunk, with at most KERNEL_RAW_BYTES_MAX, and KERNEL_FRAMES_MAX in each stack. There is
 * room for KERNEL_PACKED_BYTES_MAX. Returns how many bytes it took.
 */
size_t kernel_packing_put(struct kernel_predictor *predictor, const struct kernel_event *event, uint8_t *packed);

/* The way back: a chunk of events, to exactly records_bytes. Trusts nothing. -EPROTO: it is something else. */
MUST_USE int kernel_packing_undo(struct kernel_predictor *predictor, const uint8_t *packed, size_t packed_bytes,
                                 uint8_t *records, size_t records_bytes);

#endif
