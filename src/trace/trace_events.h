/* SPDX-License-Identifier: MIT */
/*
 * The events of one thread of a trace, in order, with the gaps between them. Nothing in the file is trusted. Memory is
 * bounded by the largest chunk and by how deep the thread's calls go. One thread at a time; blocks may be shared.
 */
#ifndef GAIT_TRACE_TRACE_EVENTS_H
#define GAIT_TRACE_TRACE_EVENTS_H

#include "trace/stream_reader.h"
#include "trace/trace_blocks.h"
#include "trace/trace_files.h"

/* When a batch of events happened, and where it stands in the stream. */
struct trace_span {
    uint64_t first_time;  /* the counter: none of them happened before; marks in the trace say so */
    uint64_t last_time;   /* nor after that */
    uint64_t sequence;    /* of the chunk */
    bool is_interpolated; /* they have no times of their own, and these are guesses: */
    uint64_t first_guess; /* of the first */
    uint64_t last_guess;  /* of the one behind the last */
};

/* The time of event i of a batch. If span->is_interpolated it is a guess, and is to be shown as one. */
static inline uint64_t trace_span_time(const struct trace_span *span, const struct gait_event *events, size_t count,
                                       size_t i)
{
    return span->is_interpolated ? span->first_guess + (span->last_guess - span->first_guess) / count * i
                                 : events[i].time;
}

struct trace_events_receiver {
    /* Events of one chunk. Nonzero: no more. */
    int (*process)(void *context, const struct gait_event *events, size_t count, const struct trace_span *span);
    /* So many bytes of records are missing here, between two calls of process; 0: some were left out, since nobody
     * asked for them. NULL: that does not matter. */
    void (*lose)(void *context, uint64_t bytes);
    /* Records were left out here, since nobody asked for them, or deleted with a piece. NULL: that does not matter. */
    void (*skip)(void *context);
    void *context;
};

/* What became of reading. */
struct trace_events_end {
    struct trace_stream_header header;
    struct stream_end stream; /* of several pieces: of the first one that is not complete, or the last one */
    const char *path;         /* of that */
    uint64_t gap_count;       /* of places where records were left out, since nobody asked for them, or deleted */
    uint64_t bad_bytes; /* of good chunks, that are no records, or of blocks that are not known; also told as lost */
    uint64_t first_bad_chunk; /* if there are any: the chunk's number */
    uint64_t first_bad_at;    /* and the byte in it, uncompressed */
};

/*
 * Hands over all events of a stream in pieces, in their order; those that are not there are gaps. Behind what is no
 * record, reading goes on with the next chunk. 0: what can be read was read, *end_out says whether that was all; else a
 * piece cannot be opened, and err says why; the others were read.
 */
MUST_USE int trace_events_read(int folder, const struct trace_file *pieces, size_t piece_count,
                               const struct trace_blocks *blocks, const struct trace_events_receiver *receiver,
                               struct trace_events_end *end_out, struct gait_error *err);

/* The same in steps, a chunk each, for who reads several streams side by side. */
struct trace_events_walk;

/* The pieces and blocks stay where they are until the end. -ENOMEM. */
MUST_USE int trace_events_begin(struct trace_events_walk **walk_out, int folder, const struct trace_file *pieces,
                                size_t piece_count, const struct trace_blocks *blocks,
                                const struct trace_events_receiver *receiver);
/*
 * What happened before that time is not wanted: chunks in which there is nothing else are not read, and told as records
 * that were left out. Depths of calls and returns begin anew behind them. Before the first step.
 */
void trace_events_skip(struct trace_events_walk *walk, uint64_t before);
/* Hands over some events, or none. False: there are no more. */
bool trace_events_step(struct trace_events_walk *walk);
/* As trace_events_read. Gives the walk back. */
int trace_events_end(struct trace_events_walk *walk, struct trace_events_end *end_out, struct gait_error *err);

#endif
