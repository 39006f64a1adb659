/* SPDX-License-Identifier: MIT */
/*
 * The records that translated code writes of what it does: one for a block, from which everything that is the same each
 * time (where it begins and ends, its instructions, whom it calls) follows by the block's number. Only what differs
 * stands in the record. A header of 32 bits, or 64 where calls or returns are recorded too, then 64-bit words; all of
 * it little-endian and aligned:
 *
 *   header: the block's index << EVENT_KIND_BITS | enum event_record
 *   EVENT_RECORD_CALL: the stack pointer before the call
 *   EVENT_RECORD_CALL_TARGET: that, and where the call goes
 *   EVENT_RECORD_RETURN: where the return goes
 *   EVENT_RECORD_COMPILED: nothing more; the engine writes it
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
    EVENT_RECORD_COMPILED,
    EVENT_RECORD_KINDS,
};

static inline uint32_t event_header_bytes(uint32_t events)
{
    return events & (GAIT_EVENT_CALL | GAIT_EVENT_RET) ? 8 : 4;
}

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
