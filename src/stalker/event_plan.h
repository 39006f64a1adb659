/* SPDX-License-Identifier: MIT */
/*
 * What a block has to write of events, and where in it the buffer is checked for room. The CPU's part of the stalker
 * writes it; see ring/event_record.h for what a record is.
 *
 * Whether the buffer is full is not checked for each record: the slack behind its end is enough for all blocks of a
 * page of code, so the check is where control may go back or leave the page, and where the flags are not needed if
 * there is such a place in the block.
 */
#ifndef GAIT_STALKER_EVENT_PLAN_H
#define GAIT_STALKER_EVENT_PLAN_H

#include "arch/arch.h"
#include "gait/stalker.h"
#include "ring/event_record.h"
#include "stalker/code_cache.h"

#include <stdbool.h>
#include <stdint.h>

struct translation;

/* A record without anything that differs is at the block's start. */
struct event_plan {
    bool record;
    bool check;
    bool flags_free;       /* the flags are not needed where the check is */
    bool check_at_end;     /* with the branch that ends the block */
    unsigned check_before; /* instruction */
    bool is_recorded;      /* a record was written */
    bool is_checked;       /* the check was written */
    bool is_told;          /* the block, as far as it is written, has recorded that it runs, or need not */
};

/* The block's last instruction. */
struct block_ending {
    enum arch_flow flow; /* ARCH_FLOW_BRANCH: all that have the target, and no record of their own */
    uint64_t pc;
    uint64_t target;
};

/* Whether a register of the program's is at home at the borders of blocks, and the position of events in it. */
static inline bool code_cache_has_events(const struct code_cache *cache)
{
    return cache->configuration.events & EVENTS_IN_CODE;
}

/* Of enum gait_event_kind: those that the block under way records. */
uint32_t event_plan_events(const struct translation *translation);

static inline bool events_have_blocks(uint32_t events)
{
    return events & (GAIT_EVENT_BLOCK | GAIT_EVENT_EXEC);
}

/* Depths of returns need calls too. */
static inline bool events_have_calls(uint32_t events)
{
    return events & (GAIT_EVENT_CALL | GAIT_EVENT_RET);
}

/* The record that an instruction of that flow at the block's end writes, or EVENT_RECORD_BLOCK: none of its own. */
enum event_record event_plan_record_at_end(const struct translation *translation, enum arch_flow flow);

/*
 * Begins the plan of the block under way, which is decoded. False: nothing is written for it; else event_plan_settle
 * makes the rest, with the number of the first instruction at which the flags are lost and cannot be seen before, or
 * the number of all instructions: at none.
 */
bool event_plan_begin(struct translation *translation);
void event_plan_settle(struct translation *translation, const struct block_ending *ending, unsigned flags_free_at);

/* What stands before instruction number `which`. */
static inline bool event_plan_records_before(const struct event_plan *plan, unsigned which)
{
    return plan->record && which == 0;
}

static inline bool event_plan_checks_before(const struct event_plan *plan, unsigned which)
{
    return plan->check && !plan->check_at_end && plan->check_before == which;
}

/* Whether the code of an instruction of that flow, which ends the block, does the check. */
static inline bool event_plan_checks_itself(const struct event_plan *plan, enum arch_flow flow)
{
    return plan->check_at_end && (flow == ARCH_FLOW_CALL_INDIRECT || flow == ARCH_FLOW_RETURN);
}

#endif
