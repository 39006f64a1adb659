/* SPDX-License-Identifier: MIT */
/*
 * The file that a process and the reader of its events share. It is large and mostly holes: places are at fixed
 * distances, so that translated code sees by one byte of its position whether a buffer is full, and no page is used
 * before something is written there.
 *
 *   0               struct ring_header
 *   RING_COUNTERS_OFFSET   what the process counts: struct ring_counters, in a page that is written anyway
 *   notices_offset  struct ring_notices: what the process asks of its reader; see ring_notice.h
 *   RING_TRIGGERS_OFFSET   what happened around which records are wanted: trigger_log.h
 *   RING_CRASHES_OFFSET    how the process died: crash_lane.h
 *   RING_UNHOOKED_OFFSET   functions that are not hooked: unhooked_log.h
 *   RING_INDIRECT_OFFSET   names of indirect functions: indirect_log.h
 *   RING_LEFT_OFFSET       threads that are not followed any more: left_log.h
 *   blocks_offset   what is known of blocks: struct ring_block, one after the other, blocks_used bytes of them
 *   RING_PROBES_OFFSET     which probes are looked at: probe_log.h
 *   modules_offset  what was mapped to be executed, and when: struct ring_module, modules_used bytes of them
 *   lanes_offset    lanes, each of buffer_count + 1 units of RING_UNIT_BYTES
 *
 * A lane holds the records of one thread at a time, of one kind, in buffers that are filled in turn. A unit of it:
 *
 *   0                                what did not fit into the buffer that ends here
 *   RING_LANE_OFFSET                 in the lane's first unit: struct ring_lane
 *   RING_UNIT_BYTES - buffer_bytes   a buffer, zero where nothing is written; see event_record.h and
 *                                    detail_record.h
 *
 * The last unit of a lane, and that of the file, are for records that are dropped: they are never read.
 *
 * Words with _Atomic change while the other side reads; the others are written before the state, or the count, that
 * makes them valid. Everything is little-endian. A reader trusts nothing in here.
 */
#ifndef GAIT_RING_RING_LAYOUT_H
#define GAIT_RING_RING_LAYOUT_H

#include "base/clock_pair.h"
#include "ring/event_record.h"

#include <stdint.h>

#define RING_MAGIC            0x676e697274696167ull /* "gaitring" */
#define RING_VERSION          8
#define RING_UNIT_BYTES       EVENT_END_ALIGNMENT
#define RING_LANE_OFFSET      EVENT_SLACK_BYTES
#define RING_COUNTERS_OFFSET  2048u
#define RING_COUNTERS_MAX     255u
#define RING_TRIGGERS_OFFSET  (128u << 10)
#define RING_TRIGGERS_BYTES   (RING_CRASHES_OFFSET - RING_TRIGGERS_OFFSET)
#define RING_CRASHES_OFFSET   (256u << 10)
#define RING_CRASHES_BYTES    (RING_UNHOOKED_OFFSET - RING_CRASHES_OFFSET)
#define RING_UNHOOKED_OFFSET  (1008u << 10)
#define RING_UNHOOKED_BYTES   (RING_INDIRECT_OFFSET - RING_UNHOOKED_OFFSET)
#define RING_INDIRECT_OFFSET  (1016u << 10)
#define RING_INDIRECT_BYTES   (RING_LEFT_OFFSET - RING_INDIRECT_OFFSET)
#define RING_LEFT_OFFSET      (1020u << 10)
#define RING_LEFT_BYTES       (RING_BLOCKS_OFFSET - RING_LEFT_OFFSET)
#define RING_BLOCKS_OFFSET    (1u << 20)
#define RING_BLOCKS_BYTES     (RING_PROBES_OFFSET - RING_BLOCKS_OFFSET)
#define RING_PROBES_OFFSET    (956ull << 20)
#define RING_PROBES_BYTES     (RING_MODULES_OFFSET - RING_PROBES_OFFSET)
#define RING_MODULES_OFFSET   (960ull << 20)
#define RING_MODULES_BYTES    (RING_LANES_OFFSET - RING_MODULES_OFFSET)
#define RING_LANES_OFFSET     (1ull << 30)
#define RING_BUFFERS_MAX      64u
#define RING_BUFFER_BYTES_MIN 4096u
#define RING_BUFFER_BYTES_MAX (8u << 20)

_Static_assert(RING_LANES_OFFSET % RING_UNIT_BYTES == 0, "buffers end at multiples of a unit");

/* What the file ends with: a unit for threads that get no lane, and room behind it. */
#define RING_TAIL_BYTES (2ull * RING_UNIT_BYTES)

static inline uint64_t ring_lane_bytes(uint32_t buffer_count)
{
    return (uint64_t)RING_UNIT_BYTES * (buffer_count + 1);
}

/* Where a lane's first unit begins. */
static inline uint64_t ring_lane_start(uint32_t index, uint32_t buffer_count)
{
    return RING_LANES_OFFSET + index * ring_lane_bytes(buffer_count);
}

/* What a writer does when all buffers are full. */
enum ring_overflow {
    RING_DROP,      /* what comes is dropped until there is room */
    RING_BLOCK,     /* it waits, as long as a reader is alive */
    RING_OVERWRITE, /* the oldest buffer is used again */
    RING_OVERFLOWS,
};

struct ring_header {
    uint64_t magic;
    uint32_t version;
    uint32_t overflow;     /* enum ring_overflow */
    uint64_t region_bytes; /* of the file */
    uint32_t buffer_bytes;
    uint32_t buffer_count; /* of each lane */
    uint32_t lane_limit;
    uint32_t pid;
    struct clock_pair began;
    _Atomic uint64_t blocks_used;  /* bytes */
    _Atomic uint64_t modules_used; /* bytes */
    _Atomic uint64_t lost_bytes;   /* of records of threads that got no lane */
    _Atomic uint64_t blocks_lost;  /* for which there was no room */
    _Atomic uint64_t modules_lost; /* the same */
    _Atomic uint64_t memory_lacks; /* how often something was not watched for want of memory in the process */
    _Atomic uint64_t not_hooked;   /* functions that should have been hooked, and cannot be */
    _Atomic uint64_t matched;      /* patterns that something in the process matched: a bit for each */
    _Atomic uint64_t armed;        /* those of which something is watched, and not only known */
    _Atomic uint64_t unresolved;   /* those that mean functions whose address is not known until somebody asks */
    _Atomic uint32_t lane_count;   /* of lanes that were ever used */
    _Atomic uint32_t activity;     /* changes when a buffer is full or a lane ends; readers sleep on it */
    _Atomic uint32_t is_awaited;   /* somebody does */
    _Atomic uint32_t heartbeat;    /* changes while a reader is alive */
};

_Static_assert(sizeof(struct ring_header) <= RING_COUNTERS_OFFSET, "counters are behind the header");

/* Counters of base/counters.def, in its order: each stands alone, and changes while it is read. */
struct ring_counters {
    uint32_t count; /* how many there are; with another number than the reader's, they are another gait's */
    uint32_t reserved;
    _Atomic uint64_t values[RING_COUNTERS_MAX];
};

_Static_assert(sizeof(struct ring_counters) == 8 + 8 * RING_COUNTERS_MAX, "no gaps");
_Static_assert(RING_COUNTERS_OFFSET + sizeof(struct ring_counters) <= 4096, "counters are in the header's page");

/* A buffer of the lane. Sequence number s is in buffer s % buffer_count. */
struct ring_buffer {
    uint64_t first_time;            /* the counter when it was begun */
    _Atomic uint64_t written_bytes; /* valid once it is full */
    _Atomic uint64_t lost_before;   /* bytes of records between the buffer before it and this one */
};

enum ring_lane_state {
    RING_LANE_FREE,
    RING_LANE_OPEN,
    RING_LANE_ENDED, /* the thread writes no more; its reader makes it free */
};

/* What the thread that has a lane does about room for its records. */
enum ring_pressure {
    RING_FILLING,  /* there is some */
    RING_WAITING,  /* there is none, and it waits for the reader */
    RING_DROPPING, /* there is none, and what it writes is lost */
    RING_PRESSURES,
};

/* Why records are dropped. */
enum ring_drop_reason {
    RING_DROP_NONE,    /* they are not */
    RING_DROP_FULL,    /* all buffers are full, and it is not to wait */
    RING_DROP_SILENT,  /* it waited, but the reader gave no sign of life for seconds */
    RING_DROP_DEAD,    /* there is no reader any more */
    RING_DROP_LEAVING, /* it was told to go on: it is to be followed no more, or a signal is to be handled */
    RING_DROP_REASONS,
};

/* What the records of a lane are. */
enum ring_lane_kind {
    RING_LANE_INDEX,  /* event_record.h */
    RING_LANE_DETAIL, /* detail_record.h */
    RING_LANE_KINDS,
};

struct ring_lane {
    _Atomic uint32_t state;      /* enum ring_lane_state */
    _Atomic uint32_t generation; /* how often it was opened */
    _Atomic uint32_t tid;        /* 0: the thread has not begun yet */
    uint32_t events;             /* of enum gait_event_kind */
    uint32_t space;              /* whose blocks its records name */
    uint32_t with_times;
    uint32_t kind;             /* enum ring_lane_kind */
    uint32_t serial;           /* of the thread, which may have several lanes: no other thread of the process has it */
    uint32_t is_whole;         /* the thread is followed from its first instruction on */
    _Atomic uint32_t pressure; /* enum ring_pressure */
    uint64_t first_sequence;
    _Atomic uint64_t claimed;    /* buffers with a sequence number below that are not what was there before */
    _Atomic uint64_t begun;      /* those below that are cleared, and have something */
    _Atomic uint64_t full;       /* those below that, all that they will have */
    _Atomic uint64_t consumed;   /* those below that were read, and may be used again */
    _Atomic uint32_t is_waiting; /* the writer sleeps on wake */
    _Atomic uint32_t wake;
    _Atomic uint64_t lost_bytes;
    _Atomic uint64_t wait_count;                     /* how often the writer waited for room, in this generation */
    _Atomic uint64_t waited_ns;                      /* and how long, so far */
    _Atomic uint32_t drop_reason;                    /* enum ring_drop_reason, of what is dropped now */
    _Atomic uint32_t drop_counts[RING_DROP_REASONS]; /* how often it began to drop, in this generation */
    _Atomic uint64_t name[2];                        /* of the thread, in 16 bytes */
    struct ring_buffer buffers[RING_BUFFERS_MAX];
};

_Static_assert(sizeof(struct ring_lane) <= 4096, "a lane's description is a page at most");

/* A block of a space, in which numbers are unique. Then lengths_count bytes, and zeroes up to a multiple of 8. */
struct ring_block {
    uint32_t size_bytes; /* of this */
    uint32_t space;
    uint32_t number;
    uint32_t code_bytes; /* of the block's original */
    uint64_t start;
    uint64_t call_target;
    uint32_t last_insn_bytes;
    uint32_t lengths_count; /* of its instructions' lengths; 0: not told */
};

#define RING_BUILD_ID_BYTES 32u

/* A file, or a part of it, that was mapped to be executed, or was so and is no more. Then the path, and zeroes up to a
 * multiple of 8. */
struct ring_module {
    uint32_t size_bytes; /* of this and the path */
    uint32_t is_loaded;
    uint64_t time; /* the counter */
    uint64_t start;
    uint64_t end;
    uint64_t file_offset;
    uint32_t path_bytes;     /* without a NUL */
    uint32_t build_id_bytes; /* 0: it has none that is known */
    uint8_t build_id[RING_BUILD_ID_BYTES];
};

#endif
