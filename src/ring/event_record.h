/* SPDX-License-Identifier: MIT */
/*
 * The records that translated code writes of what it does: one for a block, from which everything that is the same each
 * time (where it begins and ends, its instructions, whom it calls) follows by the block's number. Only what differs
 * stands in the record. All of it little-endian, and aligned, since programs may ask for faults where data is not:
 *
 *   header, 32 bits    number << EVENT_KIND_BITS | enum event_record; never 0
 *   sp, 64 bits        of calls: the stack pointer behind the call, where the return address is if it is on the stack
 *   target, 64 bits    of calls through a register or memory, and of returns: where they go
 *   time, 64 bits      if the thread's records have times: time_counter()
 *
 * Where there are calls, returns or times records are wide: behind the header are 32 bits without a meaning.
 *
 * Records of hooked functions are of their own, and the only ones in a lane that has any: 16 bytes, always with a time.
 * The number is that of a block which begins where the function does, and behind the header stands the depth: how many
 * hooked functions the thread is in, without this one; of the leave of a call the same as of its enter. Where a thread
 * goes on on another stack, it is suspended in the functions on the one that it leaves, the innermost first; the depth
 * has EVENT_STACK_SHIFT bits then, and the stack's number is above them. When it comes back, those functions are
 * resumed, the outermost first, at the depths that they have now. Of a function of which only the entry can be
 * seen there is one record, with a depth of one more than that of the innermost other one.
 *
 * The header is stored last, into memory that was zero: what is written so far ends at the first header that is 0, for
 * whoever reads, at any time, also after the writer was killed. Of hooked functions a signal handler may jump out of
 * the gate before that store: such a place stays empty, and ring_reader.c passes over it.
 */
#ifndef GAIT_RING_EVENT_RECORD_H
#define GAIT_RING_EVENT_RECORD_H

#include "gait/stalker.h"

#include <stdbool.h>
#include <stdint.h>

#define EVENT_KIND_BITS 4

enum event_record {
    EVENT_RECORD_NONE,
    EVENT_RECORD_BLOCK,
    EVENT_RECORD_CALL,
    EVENT_RECORD_CALL_TARGET,
    EVENT_RECORD_RETURN,
    EVENT_RECORD_RETURN_LATE, /* of a block that was recorded before: a transformer put the return there */
    EVENT_RECORD_COMPILED,    /* the block was translated; written by the engine */
    EVENT_RECORD_CUT,         /* the block recorded last was left before its end, here; by the engine, without a time */
    EVENT_RECORD_ENTER,       /* a hooked function was called */
    EVENT_RECORD_LEAVE,       /* it returned */
    EVENT_RECORD_UNWOUND,     /* it was left by an exception or a long jump; recorded when that is noticed */
    EVENT_RECORD_PASSED,      /* a hooked function was called, and nobody looks when that call ends */
    EVENT_RECORD_SUSPENDED,   /* the thread goes on on another stack than the function's */
    EVENT_RECORD_RESUMED,     /* it is back on that of the function */
    EVENT_RECORD_GOROUTINE,   /* the thread runs another goroutine: its number is in number and depth */
    EVENT_RECORD_KINDS,
};

/* Numbers are those of blocks; of EVENT_RECORD_CUT: up to where in its original code instructions ran. */
#define EVENT_NUMBER_MAX (INT32_MAX >> EVENT_KIND_BITS)

static inline uint32_t event_header(uint32_t number, enum event_record record)
{
    return number << EVENT_KIND_BITS | record;
}

static inline uint32_t event_header_number(uint32_t header)
{
    return header >> EVENT_KIND_BITS;
}

static inline enum event_record event_header_record(uint32_t header)
{
    return (enum event_record)(header & ((1u << EVENT_KIND_BITS) - 1));
}

#define EVENT_DEPTH_OFFSET     4
#define EVENT_SP_OFFSET        8
#define EVENT_WORD_BYTES       8
#define EVENT_RECORD_BYTES_MAX 32
#define EVENT_HOOK_BYTES       16 /* of a record of a hooked function; its last 8 are the time */

/* In the depth of a record that tells of a change of stacks: what is deeper is not told. */
#define EVENT_STACK_SHIFT 20
#define EVENT_STACKS_MAX  (1u << (32 - EVENT_STACK_SHIFT))

/*
 * Of functions of Go that are hooked where they begin and where they return, the depth is this bit, and how far the
 * stack pointer is below the end of the goroutine's stack, which stays the same when that is moved.
 */
#define EVENT_HEIGHT (1u << 31)

/* The number of a goroutine has as many bits as a record has for it. */
#define EVENT_GOROUTINE_BITS 59

static inline uint32_t event_goroutine_high(uint64_t goroutine)
{
    return (uint32_t)(goroutine >> 32) & EVENT_NUMBER_MAX;
}

static inline uint64_t event_goroutine(uint32_t number, uint32_t depth)
{
    return (uint64_t)number << 32 | depth;
}

/* What decides about the sizes of a thread's records. */
struct event_format {
    bool is_wide;
    bool with_times;
    bool is_hooked; /* there are those of hooked functions, and no others */
};

/* What lanes of hooked threads have. */
#define EVENTS_HOOKED (GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE)

static inline struct event_format event_format_of(uint32_t events, bool with_times)
{
    bool is_hooked = events & EVENTS_HOOKED;

    return (struct event_format){
        .is_wide = events & (GAIT_EVENT_CALL | GAIT_EVENT_RET) || with_times || is_hooked,
        .with_times = with_times || is_hooked,
        .is_hooked = is_hooked,
    };
}

/* Whether it tells of a change of stacks. */
static inline bool event_record_is_of_stack(enum event_record record)
{
    return record >= EVENT_RECORD_SUSPENDED && record <= EVENT_RECORD_GOROUTINE;
}

static inline bool event_record_is_hooked(enum event_record record)
{
    return (record >= EVENT_RECORD_ENTER && record <= EVENT_RECORD_PASSED) || event_record_is_of_stack(record);
}

static inline bool event_record_has_sp(enum event_record record)
{
    return record == EVENT_RECORD_CALL || record == EVENT_RECORD_CALL_TARGET;
}

static inline bool event_record_has_target(enum event_record record)
{
    return record == EVENT_RECORD_CALL_TARGET || record == EVENT_RECORD_RETURN || record == EVENT_RECORD_RETURN_LATE;
}

static inline bool event_record_has_time(struct event_format format, enum event_record record)
{
    return format.with_times && record != EVENT_RECORD_CUT;
}

/* Where the target is, if the record has one. */
static inline uint32_t event_target_offset(enum event_record record)
{
    return event_record_has_sp(record) ? 16 : 8;
}

/* Where the time is, if the record has one: behind all else. */
static inline uint32_t event_time_offset(struct event_format format, enum event_record record)
{
    uint32_t offset = format.is_wide ? 8 : 4;

    offset += event_record_has_sp(record) ? EVENT_WORD_BYTES : 0;
    return offset + (event_record_has_target(record) ? EVENT_WORD_BYTES : 0);
}

/* The size of a record. 0: there is no such record. */
static inline uint32_t event_record_bytes(struct event_format format, enum event_record record)
{
    if (record == EVENT_RECORD_NONE || record >= EVENT_RECORD_KINDS ||
        event_record_is_hooked(record) != format.is_hooked ||
        (!format.is_wide && (event_record_has_sp(record) || event_record_has_target(record))))
        return 0;
    return event_time_offset(format, record) + (event_record_has_time(format, record) ? EVENT_WORD_BYTES : 0);
}

/*
 * A buffer of records ends at a multiple of this, so that a byte of the position says whether it is full: the one at
 * EVENT_FULL_BYTE is zero behind the end and nowhere before. Behind the end there is room for what may be written
 * before anybody looks.
 */
#define EVENT_END_ALIGNMENT (1u << 24)
#define EVENT_FULL_BYTE     2
#define EVENT_SLACK_BYTES   (1u << 16)

#endif
