/* SPDX-License-Identifier: MIT */
/*
 * Ranges of code whose blocks are translated without any event code, in the same cache as all others: calls into such
 * code are told, what happens in it is not, and what it calls elsewhere is told again. Threads, forks, exec and signals
 * in it are noticed as everywhere. Any thread.
 */
#ifndef GAIT_STALKER_QUIET_RANGE_H
#define GAIT_STALKER_QUIET_RANGE_H

#include "base/address.h"
#include "base/attributes.h"
#include "base/interval_map.h"
#include "base/mutex.h"

#include <stdbool.h>
#include <stdint.h>

struct stalker_engine;

struct quiet_ranges {
    struct mutex lock;          /* taken last */
    struct interval_map ranges; /* under lock */
    _Atomic bool is_used;       /* there was a range once */
};

void quiet_ranges_init(struct quiet_ranges *quiet);
void quiet_ranges_deinit(struct quiet_ranges *quiet);

/* Makes [start, end) quiet, parts of it may be so already. -EINVAL: it is empty; -ENOMEM. */
MUST_USE int quiet_range_add(struct stalker_engine *engine, uint64_t start, uint64_t end);

/* Makes [start, end) tell its events again, as far as it was quiet. Errors as above. */
MUST_USE int quiet_range_remove(struct stalker_engine *engine, uint64_t start, uint64_t end);

/* Whether an address is quiet; and the next one at which that is different, or the last address there is. */
bool quiet_range_find(struct stalker_engine *engine, struct app_pc pc, struct app_pc *border_out);

static inline bool quiet_range_holds(struct stalker_engine *engine, struct app_pc pc)
{
    struct app_pc border;

    return quiet_range_find(engine, pc, &border);
}

#endif
