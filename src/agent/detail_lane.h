/* SPDX-License-Identifier: MIT */
/*
 * A thread's detail lane (ring/detail_record.h): made when the first call that is looked at closely happens. Belongs to
 * that thread.
 */
#ifndef GAIT_AGENT_DETAIL_LANE_H
#define GAIT_AGENT_DETAIL_LANE_H

#include "ring/detail_record.h"

#include <stdbool.h>
#include <stdint.h>

struct ring_region;
struct ring_writer;

/* The thread that a lane is of. */
struct detail_owner {
    uint32_t tid;
    uint32_t serial;                 /* of its index lane; 0: it has none */
    const _Atomic uint32_t *give_up; /* not 0: it does not wait for room; stays as long as the lane does */
};

/* All zero: none yet. */
struct detail_lane {
    struct ring_writer *writer;
    const _Atomic uint32_t *give_up;
    uint64_t position;
    bool has_failed;       /* there is no memory for it */
    uint64_t checked_page; /* of the stack, that can be read; 0: none yet */
};

/* Makes it for the thread, if there is none. False: it cannot be had. */
bool detail_lane_open(struct detail_lane *lane, struct ring_region *ring, const struct detail_owner *owner);

/* The thread writes no more. */
void detail_lane_close(struct detail_lane *lane);

/* In a child that was just forked: the lane is the parent's. */
void detail_lane_forget(struct detail_lane *lane);

/*
 * A call that just entered a function; record.kind and size_bytes are filled in here, and so is what concerns values.
 * Copies stack_bytes of the stack, or as many as values leave room for.
 */
void detail_lane_enter(struct detail_lane *lane, const struct detail_enter *enter, struct detail_values values);

/* The same for one that ended. */
void detail_lane_leave(struct detail_lane *lane, const struct detail_leave *leave, struct detail_values values);

/* Who called it: frame_count addresses. */
void detail_lane_stack(struct detail_lane *lane, const struct detail_stack *stack, const uint64_t *addresses);

/*
 * A probe that is passed: where its record goes, which is filled in there with all that follows it, but for the size;
 * what is behind that stays zero. It is told when it is ended, and nothing else is told in between.
 */
struct detail_probe *detail_lane_probe_begin(struct detail_lane *lane);
void detail_lane_probe_end(struct detail_lane *lane, const struct detail_probe *probe);

/* Whether a word of the thread's stack can be read. Cheap while it stays in a page. */
bool detail_lane_can_read(struct detail_lane *lane, uint64_t sp);

#endif
