/* SPDX-License-Identifier: MIT */
#include "stalker/event_plan.h"

#include "gait/stalker.h"
#include "stalker/block_draft.h"
#include "stalker/stalker_engine.h"
#include "stalker/translation.h"
#include "support/check.h"

#define START 0x401000u
#define INSNS 4

static struct stalker_engine engine;
static struct code_cache cache = {.engine = &engine};
static struct block block = {.start = {START}, .size_bytes = 16, .insn_count = INSNS};
static struct block_draft draft;
static struct translation translation = {.cache = &cache, .block = &block, .draft = &draft};

static struct event_plan plan_of(uint32_t events, enum arch_flow flow, uint64_t target, unsigned flags_free_at)
{
    struct block_ending ending = {flow, START + 12, target};

    cache.configuration.events = events;
    draft.count = INSNS;
    if (event_plan_begin(&translation))
        event_plan_settle(&translation, &ending, flags_free_at);
    return draft.events;
}

static bool is_checked(enum arch_flow flow, uint64_t target)
{
    return plan_of(GAIT_EVENT_BLOCK, flow, target, INSNS).check;
}

static void the_buffer_is_checked_where_control_goes_back_or_leaves_the_page(void)
{
    CHECK(!is_checked(ARCH_FLOW_NEXT, 0));
    CHECK(!is_checked(ARCH_FLOW_BRANCH, START + 0x100));
    CHECK(is_checked(ARCH_FLOW_BRANCH, START + 12));
    CHECK(is_checked(ARCH_FLOW_BRANCH, START));
    CHECK(is_checked(ARCH_FLOW_BRANCH, START + 0x1000));
    CHECK(is_checked(ARCH_FLOW_CALL_INDIRECT, 0));
    CHECK(is_checked(ARCH_FLOW_OTHER, 0));
    block.start.value += 0x1000 - 16;
    CHECK(is_checked(ARCH_FLOW_NEXT, 0));
    block.start.value = START;
}

static void a_block_without_events_has_no_plan(void)
{
    CHECK(!plan_of(0, ARCH_FLOW_RETURN, 0, 0).check);
    CHECK(plan_of(0, ARCH_FLOW_RETURN, 0, 0).is_told);
    CHECK(!plan_of(GAIT_EVENT_COMPILE, ARCH_FLOW_RETURN, 0, 0).check);
    block.is_quiet = true;
    CHECK(!plan_of(GAIT_EVENT_BLOCK, ARCH_FLOW_RETURN, 0, 0).check);
    CHECK(!plan_of(GAIT_EVENT_BLOCK, ARCH_FLOW_RETURN, 0, 0).record);
    block.is_quiet = false;
    CHECK(plan_of(GAIT_EVENT_BLOCK, ARCH_FLOW_RETURN, 0, 0).record);
    cache.configuration.events = GAIT_EVENT_BLOCK;
    draft.count = 0;
    CHECK(!event_plan_begin(&translation));
    CHECK(!draft.events.is_told);
}

static void a_call_or_return_has_a_record_of_its_own_instead_of_the_blocks(void)
{
    static const struct {
        uint32_t events;
        enum arch_flow flow;
        enum event_record record;
    } ends[] = {
        {GAIT_EVENT_CALL, ARCH_FLOW_CALL, EVENT_RECORD_CALL},
        {GAIT_EVENT_RET, ARCH_FLOW_CALL, EVENT_RECORD_CALL},
        {GAIT_EVENT_CALL, ARCH_FLOW_CALL_INDIRECT, EVENT_RECORD_CALL_TARGET},
        {GAIT_EVENT_CALL, ARCH_FLOW_RETURN, EVENT_RECORD_BLOCK},
        {GAIT_EVENT_RET, ARCH_FLOW_RETURN, EVENT_RECORD_RETURN},
        {GAIT_EVENT_BLOCK, ARCH_FLOW_CALL, EVENT_RECORD_BLOCK},
        {GAIT_EVENT_RET, ARCH_FLOW_BRANCH, EVENT_RECORD_BLOCK},
    };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct event_plan plan = plan_of(ends[i].events | GAIT_EVENT_BLOCK, ends[i].flow, START, INSNS);

        cache.configuration.events = ends[i].events;
        CHECK_EQUAL(event_plan_record_at_end(&translation, ends[i].flow), ends[i].record);
        CHECK_EQUAL(plan.record, ends[i].record == EVENT_RECORD_BLOCK);
        CHECK_EQUAL(event_plan_records_before(&plan, 0), plan.record);
        CHECK(!event_plan_records_before(&plan, 1));
    }
}

static void checks_are_where_the_flags_are_free_or_with_the_branch(void)
{
    struct event_plan plan = plan_of(GAIT_EVENT_BLOCK, ARCH_FLOW_RETURN, 0, 2);

    CHECK(plan.flags_free && !plan.check_at_end);
    for (unsigned which = 0; which < INSNS; which++)
        CHECK_EQUAL(event_plan_checks_before(&plan, which), which == 2);
    CHECK(!event_plan_checks_itself(&plan, ARCH_FLOW_RETURN));
    plan = plan_of(GAIT_EVENT_BLOCK, ARCH_FLOW_OTHER, 0, INSNS);
    CHECK(!plan.flags_free && !plan.check_at_end && event_plan_checks_before(&plan, 0));
    plan = plan_of(GAIT_EVENT_RET, ARCH_FLOW_RETURN, 0, INSNS);
    CHECK(plan.check_at_end && !event_plan_checks_before(&plan, 0));
    CHECK(event_plan_checks_itself(&plan, ARCH_FLOW_RETURN) && !event_plan_checks_itself(&plan, ARCH_FLOW_OTHER));
    plan = plan_of(GAIT_EVENT_CALL, ARCH_FLOW_CALL, START, INSNS);
    CHECK(!plan.check_at_end && event_plan_checks_before(&plan, 0));
}

static const struct check_case cases[] = {
    CHECK_CASE(the_buffer_is_checked_where_control_goes_back_or_leaves_the_page),
    CHECK_CASE(a_block_without_events_has_no_plan),
    CHECK_CASE(a_call_or_return_has_a_record_of_its_own_instead_of_the_blocks),
    CHECK_CASE(checks_are_where_the_flags_are_free_or_with_the_branch),
};

CHECK_MAIN(cases)
