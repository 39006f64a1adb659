/* SPDX-License-Identifier: MIT */
/*
 * The records that translated code writes of what it does: one for a block, from which everything that is the same each
 * time (where it begins and ends, its instructions, whom it calls) follows by the block's number. Only what differs
 * stands in the record. 32-bit words, little-endian, not aligned to more than that:
 *
 *   header: the block's index << EVENT_KIND_BITS | enum event_record
 *   EVENT_RECORD_CALL: the stack pointer before the call
 *   EVENT_RECORD_CALL_TARGET: that, and where the call goes
 *   EVENT_RECORD_RETURN: where the return goes
 *   EVENT_RECORD_OTHER: as many bytes as a header: enum event_other, and for EVENT_PARTIAL a number of instructions in
 *     the upper bits
 */
#ifndef GAIT_STALKER_EVENT_LAYOUT_H
#define GAIT_STALKER_EVENT_LAYOUT_H

#include "gait/stalker.h"

#include <stdint.h>

#define EVENT_KIND_BITS 3

enum event_record {
    EVENT_RECORD_BLOCK,
    EVENT_RECORD_CALL,
    EVENT_RECORD_CALL_TARGET,
    EVENT_RECORD_RETURN,
    EVENT_RECORD_OTHER,
    EVENT_RECORD_KINDS,
};

static inline uint32_t event_header_bytes(uint32_t events)
{
    return events & (GAIT_EVENT_CALL | GAIT_EVENT_RET) ? 8 : 4;
}

#define EVENT_OTHER_BITS 4

enum event_other {
    EVENT_COMPILED, /* the block was translated */
    EVENT_PARTIAL,  /* the block's record, before or behind this one, stands for its first instructions only */
};

#define EVENT_RECORD_BYTES_MAX 24

/*
 * A thread's buffer ends at a multiple of this, so that a byte of the position tells whether it is full: the one at
 * EVENT_FULL_BYTE is zero behind the end and nowhere before. Behind the end there is room for what may be written
 * before anybody looks.
 */
#define EVENT_END_ALIGNMENT (1u << 24)
#define EVENT_FULL_BYTE     2
#define EVENT_SLACK_BYTES   (1u << 16)

#endif
