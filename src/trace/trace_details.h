/* SPDX-License-Identifier: MIT */
/*
 * The detail records of one thread of a trace, in order. Nothing in the file is trusted. Memory is bounded by the
 * largest chunk. One thread at a time.
 */
#ifndef GAIT_TRACE_TRACE_DETAILS_H
#define GAIT_TRACE_TRACE_DETAILS_H

#include "ring/detail_record.h"
#include "trace/stream_reader.h"

/* What is NULL is passed over. */
struct trace_details_receiver {
    /* A call began; stack_bytes of the stack are behind `stack`; values are there if its arguments were declared. */
    void (*enter)(void *context, const struct detail_enter *enter, const uint8_t *stack, struct detail_values values);
    /* It ended. */
    void (*leave)(void *context, const struct detail_leave *leave, struct detail_values values);
    /* Who called it: frame_count addresses, not aligned. */
    void (*stack)(void *context, const struct detail_stack *stack, const uint8_t *addresses);
    void *context;
    /* A system call that is over; one that has begun; a probe that was passed. */
    void (*system_call)(void *context, const struct detail_system_call *call, struct detail_values values);
    void (*system_call_enter)(void *context, const struct detail_system_call_enter *enter, struct detail_values values);
    void (*probe)(void *context, const struct detail_probe *probe, struct detail_values values);
};

/* What became of reading. */
struct trace_details_end {
    struct trace_stream_header header;
    struct stream_end stream;
    uint64_t record_count;
    uint64_t gap_count;       /* of places where records were left out, since nobody asked for them */
    uint64_t bad_bytes;       /* of good chunks, that are no records */
    uint64_t first_bad_chunk; /* if there are any: the chunk's number */
    uint64_t first_bad_at;    /* and the byte in it, uncompressed */
};

/*
 * Hands over all records of the stream at `path`. Behind what is no record, reading goes on with the next chunk. 0:
 * what can be read was read, *end_out says whether that was all; else the stream cannot be opened, and err says why.
 */
MUST_USE int trace_details_read(int folder, const char *path, const struct trace_details_receiver *receiver,
                                struct trace_details_end *end_out, struct gait_error *err);

#endif
