/* SPDX-License-Identifier: MIT */
/*
 * The writer's side of a ring: the file, and what all threads share of it. Any thread of the process that made it.
 */
#ifndef GAIT_RING_RING_REGION_H
#define GAIT_RING_RING_REGION_H

#include "base/attributes.h"
#include "base/mutex.h"
#include "ring/event_decoder.h"
#include "ring/ring_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_options {
    size_t buffer_bytes;   /* 0: 512 KiB */
    unsigned buffer_count; /* of each thread; 0: 4 */
    enum ring_overflow overflow;
};

struct ring_region {
    uint8_t *base;
    size_t bytes;
    int fd; /* -1: it is closed, what is mapped stays */
    struct ring_options options;
    uint32_t lane_limit;
    struct mutex lock;
    uint32_t space_count;
    uint32_t serial_count;
    bool is_detached; /* from the file: nobody sees what is written */
};

/*
 * -EINVAL: sizes that cannot be; -ENOMEM: no memory or no addresses; what memory_file_create gives. The caller owns it,
 * and the descriptor that it holds.
 */
MUST_USE int ring_region_create(const struct ring_options *options, struct ring_region **region_out);

/* No lane may be open. NULL is fine. */
void ring_region_destroy(struct ring_region *region);

/* Closes the descriptor: whoever is to have the file has it. */
void ring_region_close_fd(struct ring_region *region);

/*
 * In a child that was just forked: a ring of its own, empty, takes the place of its parent's, which stays mapped as
 * *parent_out until ring_region_leave. Errors as of ring_region_create: nothing has changed.
 */
MUST_USE int ring_region_renew(struct ring_region *region, struct ring_region *parent_out);
void ring_region_leave(struct ring_region *parent);

static inline struct ring_header *ring_region_header(const struct ring_region *region)
{
    return (struct ring_header *)(void *)region->base;
}

/* A new space of block numbers. */
uint32_t ring_region_new_space(struct ring_region *region);

/*
 * Makes a block known to readers; before any record names it. False: there is no room for more, which is counted:
 * reading then ends at its first record.
 */
bool ring_region_add_block(struct ring_region *region, uint32_t space, uint32_t number,
                           const struct event_block *block);

/* Tells readers of a change of what is mapped. False: there is no room for more. */
bool ring_region_add_module(struct ring_region *region, const struct ring_module *module, const char *path);

/* Something in the process matched that pattern of the session's, one of the first 64. */
void ring_region_note_match(struct ring_region *region, uint32_t pattern);

/* Something is watched because of these patterns: a bit for each. */
void ring_region_note_armed(struct ring_region *region, uint64_t patterns);

/* It means a function of which one of several is chosen, once, by code of the program's. */
void ring_region_note_unresolved(struct ring_region *region, uint32_t pattern);

/* Something is not watched, since there was no memory for it: counted for readers. Any thread, no lock. */
void ring_region_note_lack(struct ring_region *region);

/* A function is not hooked, since it cannot be: counted for readers; how many were before. Any thread, no lock. */
uint64_t ring_region_note_not_hooked(struct ring_region *region);

/* How many those are. */
uint64_t ring_region_not_hooked(struct ring_region *region);

/*
 * In a child that was just forked: what is written from now on is seen by nobody, above all not as the parent's. False:
 * that cannot be had, and nothing may be written any more.
 */
MUST_USE bool ring_region_detach(struct ring_region *region);

#endif
