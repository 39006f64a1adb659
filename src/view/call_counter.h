/* SPDX-License-Identifier: MIT */
/*
 * Counts calls of threads of a trace by group: struct call_receiver out of, struct call_statistics into. Memory grows
 * with functions and with how deep calls go. One thread at a time; several counters may share their groups.
 */
#ifndef GAIT_VIEW_CALL_COUNTER_H
#define GAIT_VIEW_CALL_COUNTER_H

#include "view/call_groups.h"
#include "view/call_statistics.h"

struct call_counter {
    struct call_groups *groups;
    size_t thread;             /* whose calls come */
    size_t process;            /* of which answers are known */
    struct hash_map addresses; /* -> its answer */
    struct call_group_answer *answers;
    size_t answer_count;
    size_t answer_capacity;
    uint32_t *open; /* the groups of calls that have not ended, by depth */
    size_t open_capacity;
    struct call_statistics_table statistics; /* by the number of the group */
};

/* The groups must outlive it. -ENOMEM. */
MUST_USE int call_counter_init(struct call_counter *counter, struct call_groups *groups);
void call_counter_deinit(struct call_counter *counter);

/* For the calls of the thread with that index, up to where all of them have ended. -ENOMEM. */
MUST_USE int call_counter_receive(struct call_counter *counter, size_t thread, struct call_receiver *receiver_out);

#endif
