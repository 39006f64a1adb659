/* SPDX-License-Identifier: MIT */
/*
 * The records of the detail lane: a call that is looked at closely, when it begins and when it ends. They follow each
 * other, each begins with its size, which is stored last, into memory that was zero: what is written so far ends at the
 * first size that is 0. All of it is little-endian and aligned to 8.
 */
#ifndef GAIT_RING_DETAIL_RECORD_H
#define GAIT_RING_DETAIL_RECORD_H

#include <stddef.h>
#include <stdint.h>

enum detail_record_kind {
    DETAIL_ENTER = 1, /* struct detail_enter */
    DETAIL_LEAVE,     /* struct detail_leave: the function returned */
    DETAIL_LEFT,      /* the same: it was left in another way, by an exception or a long jump, some time before */
};

#define DETAIL_ARGUMENTS       6
#define DETAIL_STACK_BYTES_MAX 512u

struct detail_record {
    uint32_t size_bytes; /* of this, with what follows it: a multiple of 8 */
    uint16_t kind;       /* enum detail_record_kind */
    uint16_t depth;      /* how many calls that are looked at have not ended: of this one's thread, without it */
    uint64_t time;       /* the counter */
    uint64_t function;   /* its address */
    uint64_t sp;         /* when it was entered: where the return address is */
};

/* Then stack_bytes of the stack, from sp on, and zeroes up to a multiple of 8. */
struct detail_enter {
    struct detail_record record;
    uint64_t caller;                      /* where it returns to */
    uint64_t arguments[DETAIL_ARGUMENTS]; /* the registers in which there may be some */
    uint32_t stack_bytes;
    uint32_t reserved;
};

struct detail_leave {
    struct detail_record record;
    uint64_t entered_time; /* the counter */
    uint64_t value;        /* the register in which it may have returned one; of DETAIL_LEFT: 0 */
};

#define DETAIL_RECORD_BYTES_MAX (sizeof(struct detail_enter) + DETAIL_STACK_BYTES_MAX)

_Static_assert(sizeof(struct detail_enter) == 96 && sizeof(struct detail_leave) == 48, "as the specification says");

/*
 * The size of the record at a place with so many bytes; 0: there is none. Looks once at each field: others may change
 * them.
 */
size_t detail_record_check(const uint8_t *place, size_t available);

/* How many whole records there are from a place on. */
uint64_t detail_records_count(const uint8_t *place, size_t available);

/* Where the records that are written so far end: before `end`, before one that is not written, or what is none. */
const uint8_t *detail_records_end(const uint8_t *place, const uint8_t *end);

#endif
