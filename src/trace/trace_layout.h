/* SPDX-License-Identifier: MIT */
/*
 * The files of a trace. docs/trace_format.md is the specification; this is the same in C. A trace is a folder:
 *
 *   manifest.json               what was recorded, when, how, and how it ended
 *   PID/modules.gait            a stream of struct trace_module: what was mapped when
 *   PID/blocks.gait             a stream of struct ring_block (ring/ring_layout.h): what records mean
 *   PID/TID.GENERATION.index.gait    a stream of event records (ring/event_record.h): what a thread did
 *   PID/TID.GENERATION.detail.gait   a stream of detail records (ring/detail_record.h): calls that were looked at
 *                               closely
 *   PID/crash.gait              a stream of crash records (ring/crash_record.h): how the process died
 *   kernel/sources.gait, kernel/CPU.events.gait    what the kernel told: trace/kernel_layout.h
 *   names/ID.gait               the functions of a file that was mapped: struct trace_names, struct trace_functions
 *   debug/.build-id/12/34.debug debug information of such a file, an ELF file; only in what was packed
 *
 * A stream of a thread may be in pieces, which go on where the one before ended: then ".PIECE" is in front of ".gait",
 * from the second piece of the recording on.
 *
 * All of these can be packed into one file, a stream of struct trace_packed.
 *
 * A stream is a header, chunks, and a footer that is there if the recording ended properly. All is little-endian.
 */
#ifndef GAIT_TRACE_TRACE_LAYOUT_H
#define GAIT_TRACE_TRACE_LAYOUT_H

#include "base/alignment.h"
#include "base/clock_pair.h"

#include <stdint.h>

#define TRACE_VERSION 1 /* of the manifest, and of streams unless they have their own */
/* Of detail streams: in 1 there were neither values nor stacks, in 2 no system calls and probes. */
#define TRACE_DETAIL_VERSION  3
#define TRACE_KERNEL_VERSION  2           /* of the kernel's events: in 1 they were not packed */
#define TRACE_CHUNK_BYTES_MAX (64u << 20) /* of a chunk, uncompressed */
#define TRACE_ALIGNMENT       8u /* of chunks and the footer in the file, of blocks and modules in their stream */
#define TRACE_STREAM_MAGIC    0x6d72747374696167ull /* "gaitstrm" */
#define TRACE_CHUNK_MAGIC     0x6b6e6863u           /* "chnk" */
#define TRACE_FOOTER_MAGIC    0x646e657374696167ull /* "gaitsend" */

enum trace_stream_kind {
    TRACE_STREAM_INDEX = 1,
    TRACE_STREAM_BLOCKS,
    TRACE_STREAM_MODULES,
    TRACE_STREAM_DETAIL,
    TRACE_STREAM_CRASH,
    TRACE_STREAM_NAMES,
    TRACE_STREAM_PACK,
    TRACE_STREAM_KERNEL_SOURCES,
    TRACE_STREAM_KERNEL_EVENTS,
    TRACE_STREAM_KINDS,
};

/* The version in which streams of a kind are written. Earlier ones, from 1 on, can be read as well. */
static inline uint32_t trace_stream_version(uint32_t kind)
{
    return kind == TRACE_STREAM_DETAIL          ? TRACE_DETAIL_VERSION
           : kind == TRACE_STREAM_KERNEL_EVENTS ? TRACE_KERNEL_VERSION
                                                : TRACE_VERSION;
}

/* The names of files. */
#define TRACE_MANIFEST_NAME "manifest.json"
#define TRACE_BLOCKS_NAME   "blocks.gait"
#define TRACE_MODULES_NAME  "modules.gait"
#define TRACE_CRASH_NAME    "crash.gait"
#define TRACE_INDEX_SUFFIX  ".index"
#define TRACE_DETAIL_SUFFIX ".detail"
#define TRACE_STREAM_SUFFIX ".gait"
#define TRACE_NAMES_FOLDER  "names"
#define TRACE_DEBUG_FOLDER  "debug"
#define TRACE_ID_FOLDER     ".build-id" /* in the one for debug information */
#define TRACE_DEBUG_SUFFIX  ".debug"
#define TRACE_PATH_PREFIX   "path-" /* in place of a build ID, before a number made from the path */

struct trace_stream_header {
    uint64_t magic;
    uint32_t version;
    uint32_t kind; /* enum trace_stream_kind */
    uint32_t pid;
    uint32_t tid;        /* of an index stream */
    uint32_t generation; /* of the tid, from 1 on: it may come again */
    uint32_t space;      /* of an index stream: in which its blocks are looked for */
    uint32_t events;     /* of enum gait_event_kind */
    uint32_t with_times;
    struct clock_pair began;
    uint32_t is_whole; /* of an index stream: the thread is followed from its first instruction on */
    uint32_t crc;      /* of all before it */
};

_Static_assert(sizeof(struct trace_stream_header) == 64, "as the specification says");

enum trace_chunk_flag {
    TRACE_CHUNK_ZSTD = 1u << 0,   /* all that follows is compressed, to less than it was */
    TRACE_CHUNK_PACKED = 1u << 1, /* the records are packed, to less than they were */
    TRACE_CHUNK_MARKS = 1u << 2,  /* in front of the records are times of some of them */
    TRACE_CHUNK_COUNTS = 1u << 3, /* in front of all that is how often functions were entered and left */
    TRACE_CHUNK_GAP = 1u << 4,    /* what came between the chunk before and this one was not asked for, and left out */
    TRACE_CHUNK_FLAGS =
        TRACE_CHUNK_ZSTD | TRACE_CHUNK_PACKED | TRACE_CHUNK_MARKS | TRACE_CHUNK_COUNTS | TRACE_CHUNK_GAP,
};

/* Then stored_bytes, and zeroes up to a multiple of 8. */
struct trace_chunk {
    uint32_t magic;
    uint32_t flags;        /* of enum trace_chunk_flag */
    uint32_t stored_bytes; /* in the file */
    uint32_t raw_bytes;    /* of whole records, neither compressed nor packed */
    uint64_t sequence;     /* from 0 on, one more each time, also from piece to piece */
    uint64_t first_time;   /* the counter: all that is in here happened at that time or later */
    uint64_t last_time;    /* and before that one */
    uint64_t lost_before;  /* bytes of records that were lost between the chunk before and this one */
    uint32_t data_crc;     /* of the bytes as they are in the file */
    uint32_t crc;          /* of this header before it */
};

_Static_assert(sizeof(struct trace_chunk) == 56, "as the specification says");

/*
 * Behind a chunk's header, if it has counts, whatever follows: this, then a struct trace_count for each function that
 * is told of in the chunk, in the order in which they first are, and zeroes up to a multiple of 8. They are not
 * compressed, and have a sum of their own, so that who only counts reads nothing else.
 */
struct trace_counts {
    uint32_t count;
    uint32_t crc;          /* of all that follows, up to the last count */
    uint32_t lowest_depth; /* of any record of the chunk: calls at lower ones go on throughout */
    uint32_t reserved;
};

/* Of a hooked function. */
struct trace_count {
    uint32_t number; /* as in the records */
    uint32_t entered;
    uint32_t left; /* in whatever way */
};

_Static_assert(sizeof(struct trace_counts) == 16 && sizeof(struct trace_count) == 12, "as the specification says");

#define TRACE_COUNTS_BYTES_MAX 65536u /* of a chunk, with the header */

/* Behind these, or the header, if it has marks: this, then the marks. */
struct trace_marks {
    uint32_t count; /* at most TRACE_MARKS_MAX */
    uint32_t reserved;
};

#define TRACE_MARKS_MAX 1024u

/* Records in front of the offset happened before that time, the others after it. Marks are sorted. */
struct trace_mark {
    uint64_t time;   /* the counter */
    uint32_t offset; /* in the raw bytes: more than 0, and less than they are */
    uint32_t reserved;
};

_Static_assert(sizeof(struct trace_marks) == 8 && sizeof(struct trace_mark) == 16, "as the specification says");

enum trace_footer_flag {
    TRACE_FOOTER_REPAIRED = 1u << 0, /* written afterwards: something may have followed, and the end is not known */
};

struct trace_footer {
    uint64_t magic;
    uint64_t chunk_count;
    uint64_t raw_bytes; /* of all chunks */
    uint64_t stored_bytes;
    uint64_t lost_bytes; /* of all chunks, and behind the last one */
    struct clock_pair ended;
    uint32_t flags; /* of enum trace_footer_flag */
    uint32_t crc;   /* of all before it */
};

_Static_assert(sizeof(struct trace_footer) == 64, "as the specification says");

enum trace_module_change {
    TRACE_MODULE_LOADED = 1,
    TRACE_MODULE_UNLOADED,
};

/* A piece of a file that was mapped to be executed. Then path_bytes, and zeroes up to a multiple of 8. */
struct trace_module {
    uint32_t size_bytes; /* of this and the path */
    uint32_t change;     /* enum trace_module_change */
    uint64_t time;       /* the counter */
    uint64_t start;
    uint64_t end;
    uint64_t file_offset;
    uint32_t path_bytes;     /* without a NUL */
    uint32_t build_id_bytes; /* 0: it has none that is known */
    uint8_t build_id[32];
};

_Static_assert(sizeof(struct trace_module) == 80, "as the specification says");

/*
 * The first chunk of a stream of names: which file they are of. Then segment_count struct trace_segment, the path, and
 * zeroes up to a multiple of 8. The other chunks are struct trace_functions.
 */
struct trace_names {
    uint32_t size_bytes; /* of this, the segments and the path */
    uint32_t machine;    /* as in ELF files */
    uint64_t function_count;
    uint64_t file_bytes; /* of the file */
    uint64_t from;       /* the counter: what was mapped from this path before then was another file */
    uint32_t file_crc;   /* of the file, if it has no build ID */
    uint32_t segment_count;
    uint32_t path_bytes; /* without a NUL */
    uint32_t build_id_bytes;
    uint8_t build_id[32];
};

_Static_assert(sizeof(struct trace_names) == 80, "as the specification says");

/* Code of the file, and what the file calls its address. */
struct trace_segment {
    uint64_t file_offset;
    uint64_t address;
    uint64_t size_bytes;
};

_Static_assert(sizeof(struct trace_segment) == 24, "as the specification says");

/*
 * Functions by address. Then, one behind the other: for each how much further its address is than that of the one
 * before (of the first in a chunk, than 0), as a varint; for each its size, as a varint; for each its name and a NUL.
 */
struct trace_functions {
    uint32_t count;
    uint32_t address_bytes;
    uint32_t size_bytes; /* of the sizes */
    uint32_t name_bytes;
};

_Static_assert(sizeof(struct trace_functions) == 16, "as the specification says");

/*
 * A chunk of a packed trace: bytes of a file, which follow the path. Each file begins where the one before ended. The
 * first chunk has no path and no bytes: its file_bytes are those of all files.
 */
struct trace_packed {
    uint32_t path_bytes; /* without a NUL; 0: of all files */
    uint32_t reserved;
    uint64_t file_bytes; /* of all of the file */
    uint64_t offset;     /* of these bytes in it */
};

_Static_assert(sizeof(struct trace_packed) == 24, "as the specification says");

/* How much of a file, or of a stream of blocks or modules, something takes that has so many bytes. */
static inline uint64_t trace_padded(uint64_t size_bytes)
{
    return align_up(size_bytes, TRACE_ALIGNMENT);
}

/* How much of a chunk the counts of so many functions take. */
static inline uint64_t trace_counts_bytes(uint32_t count)
{
    return trace_padded(sizeof(struct trace_counts) + count * (uint64_t)sizeof(struct trace_count));
}

#endif
