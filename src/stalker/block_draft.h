/* SPDX-License-Identifier: MIT */
/*
 * A block while it is written: where its bytes are read, what holds for its registers as far as it is written, and the
 * points of its trail. The CPU's part of the stalker has a struct that begins with this one, and its decoded
 * instructions behind it. Under the engine's translation_lock.
 */
#ifndef GAIT_STALKER_BLOCK_DRAFT_H
#define GAIT_STALKER_BLOCK_DRAFT_H

#include "base/address.h"
#include "stalker/event_plan.h"
#include "stalker/trail.h"
#include "stalker/translation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A block that is checked is no longer than this. */
#define DRAFT_CHECKED_BYTES_MAX 256

#define DRAFT_POINTS_MAX        (BLOCK_INSNS_MAX * 8)

/* Counts that wait for a place in the block where they are cheap. */
#define DRAFT_COUNTS_MAX 4

struct block_draft {
    unsigned count;        /* of instructions that were decoded */
    bool is_checked;       /* each time that it runs: its original may change */
    bool ends_bad;         /* what follows the last instruction cannot be translated */
    bool ends_unknown;     /* since it is no instruction, or no memory */
    bool is_bare;          /* nothing holds for the block that states do not say; in doubt it is not */
    const uint8_t *source; /* its bytes: the original or, if that may change, the copy */
    unsigned point_count;
    register_set homes; /* registers that are at home until the block overwrites them */
    struct event_plan events;
    struct app_pc callout_pc; /* where the last callout stands, and how many there are */
    unsigned callouts_done;
    unsigned count_pending;
    struct app_pc count_pc; /* where the last counts were made, and whether their number was odd */
    bool is_counted;
    uint64_t counts[DRAFT_COUNTS_MAX];
    uint8_t copy[DRAFT_CHECKED_BYTES_MAX];
    struct trail_point points[DRAFT_POINTS_MAX];
    uint8_t trail[DRAFT_POINTS_MAX * 4];
};

/* Begins a block that is to be decoded. Returns how many bytes there are at draft->source. */
size_t block_draft_begin(struct translation *translation);

/*
 * There is a breakpoint of so many bytes at an address of the block. If the kernel has put it there for somebody who
 * watches the code, draft->source is a copy from then on that has the program's own instruction. Returns how many bytes
 * of it there are from that address on; 0: the breakpoint is the program's.
 */
size_t block_draft_take_breakpoint_back(struct translation *translation, struct app_pc pc, size_t size_bytes);

/* Begins one of which nothing is known but where it begins. */
void block_draft_begin_unknown(struct translation *translation);

/* Notes that from the next byte of hot code on, the thread is at app_pc in that state. */
void block_draft_note(struct translation *translation, struct app_pc app_pc, struct trail_state state);

/* Notes that what is written next is an instruction as it stands at app_pc, and leaves the registers alone. */
void block_draft_note_copy(struct translation *translation, struct app_pc app_pc);

/* Notes that from here on one more callout is done at that address, or piece of code that a transformer put there. */
void block_draft_note_callout(struct translation *translation, struct app_pc pc, struct trail_state state);

/* Notes that the counts that waited are made at that address. */
void block_draft_note_counts(struct translation *translation, struct app_pc pc);

/* Whether nothing has to be put between the block's instructions: no events, no counts. */
static inline bool block_draft_joins(const struct translation *translation)
{
    return !code_cache_has_events(translation->cache) && translation->draft->count_pending == 0;
}

/*
 * Says where exit number `which` goes. One of BLOCK_EXIT_ADJACENT has no stub before it is unlinked, as few are;
 * others get theirs next in cold memory: returns where.
 */
struct cache_pc block_draft_set_exit(struct translation *translation, unsigned which, enum block_exit_kind kind,
                                     struct app_pc target);

/* Keeps where the block's hot code is, and its trail, in as few bytes as that takes. */
void block_draft_keep(struct translation *translation);

#endif
