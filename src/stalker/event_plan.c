/* SPDX-License-Identifier: MIT */
/* Decided when a block is decoded; transformers may leave instructions out afterwards. Under the cache's lock. */
#include "stalker/event_plan.h"

#include "stalker/block_draft.h"
#include "stalker/quiet_range.h"
#include "stalker/translation.h"

/* The slack of an event buffer is enough for so much code. */
#define PAGE_SHIFT 12

uint32_t event_plan_events(const struct translation *translation)
{
    return translation->block->is_quiet ? 0 : translation->cache->configuration.events;
}

enum event_record event_plan_record_at_end(const struct translation *translation, enum arch_flow flow)
{
    uint32_t events = event_plan_events(translation);

    if (flow == ARCH_FLOW_CALL && events_have_calls(events))
        return EVENT_RECORD_CALL;
    if (flow == ARCH_FLOW_CALL_INDIRECT && events_have_calls(events))
        return EVENT_RECORD_CALL_TARGET;
    if (flow == ARCH_FLOW_RETURN && events & GAIT_EVENT_RET)
        return EVENT_RECORD_RETURN;
    return EVENT_RECORD_BLOCK;
}

/* Whether control can come back to code before `pc`, or leave its page, without a check of the buffer, from there on.
 */
static bool leads_away(const struct translation *translation, uint64_t pc, uint64_t target)
{
    return target <= pc || target >> PAGE_SHIFT != pc >> PAGE_SHIFT ||
           quiet_range_holds(translation->cache->engine, app_pc_of(target));
}

/* The same of the block that was decoded. */
static bool needs_check(const struct translation *translation, const struct block_ending *ending)
{
    uint64_t start = translation->block->start.value;

    if (leads_away(translation, start, block_end(translation->block).value))
        return true;
    switch (ending->flow) {
    case ARCH_FLOW_NEXT:
        return false;
    case ARCH_FLOW_BRANCH:
        return ending->target <= ending->pc || leads_away(translation, start, ending->target);
    default:
        return true;
    }
}

bool event_plan_begin(struct translation *translation)
{
    uint32_t events = event_plan_events(translation);

    translation->draft->events = (struct event_plan){.is_told = !events_have_blocks(events)};
    return translation->draft->count != 0 && (events_have_blocks(events) || events_have_calls(events));
}

void event_plan_settle(struct translation *translation, const struct block_ending *ending, unsigned flags_free_at)
{
    enum event_record at_end = event_plan_record_at_end(translation, ending->flow);
    struct event_plan *plan = &translation->draft->events;

    plan->record = events_have_blocks(event_plan_events(translation)) && at_end == EVENT_RECORD_BLOCK;
    plan->check = (plan->record || at_end != EVENT_RECORD_BLOCK) && needs_check(translation, ending);
    plan->flags_free = flags_free_at < translation->draft->count;
    plan->check_before = plan->flags_free ? flags_free_at : 0;
    /* Where the register that the check takes is at home anyway. */
    plan->check_at_end = plan->check && !plan->flags_free && !plan->record && at_end != EVENT_RECORD_CALL;
}
