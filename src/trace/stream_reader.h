/* SPDX-License-Identifier: MIT */
/*
 * Reading one stream of a trace, chunk by chunk. Trusts nothing: what is handed out is whole and has the right sum, and
 * at the end it is told whether the stream is complete, cut off or damaged, and where. The file may change meanwhile.
 * Memory is bounded by the largest chunk. One thread at a time.
 */
#ifndef GAIT_TRACE_STREAM_READER_H
#define GAIT_TRACE_STREAM_READER_H

#include "base/attributes.h"
#include "gait/error.h"
#include "trace/trace_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stream_state {
    STREAM_READING,
    STREAM_COMPLETE, /* all is there, with the footer */
    STREAM_CUT_OFF,  /* what is there is good, but the file ends too early: the recording was killed, or goes on */
    STREAM_DAMAGED,  /* something is there that does not belong there */
    STREAM_FAILED,   /* it could not be read on */
};

/* How a stream ended. */
struct stream_end {
    enum stream_state state;
    uint64_t first_sequence; /* of the first chunk: not 0 where the stream goes on from another file */
    uint64_t chunk_count;    /* good ones */
    uint64_t offset;         /* behind the last good one: where reading ended */
    uint64_t raw_bytes;      /* of the good ones, as the next two */
    uint64_t stored_bytes;
    uint64_t lost_bytes;        /* before the good ones; with a footer: behind them, too */
    uint64_t lost_behind;       /* with a footer */
    uint64_t last_time;         /* of the last good one */
    const char *reason;         /* static; NULL if complete */
    int code;                   /* an errno number; 0 if complete */
    struct trace_footer footer; /* if complete */
};

struct record_predictor;
struct kernel_predictor;

struct stream_buffer {
    uint8_t *bytes;
    size_t capacity;
};

struct stream_reader {
    int fd;
    struct trace_stream_header header;
    struct stream_end end;
    struct stream_buffer stored;
    struct stream_buffer plain; /* the same, decompressed */
    struct stream_buffer raw;   /* the same, unpacked */
    struct trace_chunk glanced; /* that was looked at last */
    struct record_predictor *predictor;
    struct kernel_predictor *kernel_predictor; /* of the kernel's events */
};

/* The bytes are the reader's, until it is asked again. */
struct stream_chunk {
    const uint8_t *bytes; /* aligned for any type */
    size_t size_bytes;
    uint64_t first_time;
    uint64_t last_time;
    uint64_t lost_before;
    uint64_t sequence;
    uint64_t offset;                /* of the chunk in the file */
    bool has_gap_before;            /* records before it were left out, since nobody asked for them */
    const struct trace_mark *marks; /* by offset, which are below size_bytes */
    uint32_t mark_count;
    const struct trace_count *counts; /* NULL: there are none */
    uint32_t count_count;
};

/* What a chunk tells without being read. */
struct stream_glance {
    uint64_t last_time;
    bool is_behind_gap;               /* something is missing before it, whatever the reason */
    bool has_counts;                  /* how often functions were entered and left: */
    uint32_t lowest_depth;            /* of any record; 0 without counts */
    const struct trace_count *counts; /* the reader's, until it is asked again */
    uint32_t count;
};

/* A chunk, to come back to. */
struct stream_place {
    uint64_t offset;
    uint64_t chunk_count; /* before it */
    uint64_t first_sequence;
};

/*
 * Opens a file of an open folder (or AT_FDCWD) and reads its header. Explains what is wrong: no such file, no
 * permission, no file, no stream, another version.
 */
MUST_USE int stream_reader_open(struct stream_reader *reader, int folder, const char *path, struct gait_error *err);
void stream_reader_close(struct stream_reader *reader);

/* The next chunk. False: there is none, and reader->end says why. */
MUST_USE bool stream_reader_next(struct stream_reader *reader, struct stream_chunk *chunk_out);

/*
 * Passes over the chunks that come next, as long as all that is in them happened before that time; what they hold is
 * not looked at. Returns how many these were.
 */
uint64_t stream_reader_skip(struct stream_reader *reader, uint64_t before);

/*
 * Looks at the chunk that comes next without reading it, if all that is in it happened before that time; it is passed
 * over by stream_reader_pass. False: there is none, or something is wrong with it, which who reads on is told.
 */
MUST_USE bool stream_reader_glance(struct stream_reader *reader, uint64_t before, struct stream_glance *glance_out);
void stream_reader_pass(struct stream_reader *reader);

/* Where it is, and back to there. What follows can be read again; the footer would not be believed. */
struct stream_place stream_reader_place(const struct stream_reader *reader);
void stream_reader_return(struct stream_reader *reader, struct stream_place place);

/* Puts the end of a stream that is not complete into words, as an error about that file. */
int stream_end_explain(const struct stream_end *end, const char *path, struct gait_error *err);

/*
 * Where several streams are read, one thing is told: whether `why` says something that matters more than `known`, which
 * may be NULL and is then nothing to tell to. That a stream is cut off matters least.
 */
bool stream_error_outweighs(const struct gait_error *why, const struct gait_error *known);

/* Whether all that is wrong is that a stream is cut off: somebody still records into it, or was killed. */
bool stream_error_is_cut_off(const struct gait_error *err);

/* For who wants all of a stream: 0 if that was read, else -EPROTO, and it is explained. */
int stream_end_check(const struct stream_end *end, const char *path, struct gait_error *err);

#endif
