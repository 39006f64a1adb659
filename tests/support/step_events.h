/* SPDX-License-Identifier: MIT */
/*
 * Holds the events of a run against the instructions that the CPU ran, which say everything about them: where blocks
 * may begin and end, what was called and from how deep. Where a run ends by a fault in the middle of a block, the block
 * may be in the events as a whole or not at all.
 */
#ifndef GAIT_TESTS_STEP_EVENTS_H
#define GAIT_TESTS_STEP_EVENTS_H

#include "support/event_list.h"
#include "support/step_list.h"

/* The steps of one run. */
struct step_span {
    const struct step *steps;
    const struct x86_insn *insns;
    size_t count;
    size_t insn_count; /* the last step may be at no instruction: one less */
};

/*
 * Compares the events that were wanted, all of which are in the list and of the code under test. False: says by
 * printing what differs.
 */
bool step_events_compare(const struct step_span *span, const struct event_list *list, uint32_t wanted);

#endif
