/* SPDX-License-Identifier: MIT */
/*
 * .eh_frame: which functions there are, and how their frames are undone. The bytes may come from anywhere: nothing in
 * them is trusted, everything is bounds-checked. Nothing is owned: entries point into the caller's bytes. No system
 * calls, no locks, no libc; usable anywhere.
 */
#ifndef GAIT_ELF_EH_FRAME_H
#define GAIT_ELF_EH_FRAME_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The section, and the address that its first byte has, or would have. */
struct eh_frame {
    const uint8_t *bytes;
    size_t size_bytes;
    uint64_t address;
};

struct byte_range {
    const uint8_t *start;
    const uint8_t *end;
};

/* A function, or a piece of one. */
struct eh_frame_entry {
    uint64_t start;
    uint64_t end;
    struct byte_range common_program; /* comes first */
    struct byte_range program;
    uint64_t code_alignment;
    int64_t data_alignment;
    uint64_t return_register;
    bool is_signal_frame; /* the kernel made the frame: its pc is that of the next instruction, not behind a call */
};

/*
 * The entry at *offset, which is 0 at first and moved behind it. 1: there is one; 0: that was all; -EPROTO: what is
 * there makes no sense, and nothing behind it can be found. Entries with pointers of unusual kinds are left out.
 */
MUST_USE int eh_frame_next(const struct eh_frame *frame, size_t *offset, struct eh_frame_entry *entry_out);

/*
 * Whether the section ends within these bytes, for who does not know how long it is. *offset is 0 at first and moved
 * behind the last whole record: the end mark is there, or the next call, with more bytes, goes on from there.
 */
bool eh_frame_has_end(const struct eh_frame *frame, size_t *offset);

/*
 * Where .eh_frame is, by .eh_frame_hdr, which PT_GNU_EH_FRAME leads to. -EPROTO: this is none. The address is as the
 * header's; how long the section is, is not told.
 */
MUST_USE int eh_frame_find(const struct eh_frame *header, uint64_t *address_out);

#endif
