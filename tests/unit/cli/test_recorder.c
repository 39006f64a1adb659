/* SPDX-License-Identifier: MIT */
/* The commands run it on real programs; see test_command_spawn.c and tests/system. */
#include "cli/recorder.h"

#include "gait/stalker.h"
#include "ring/ring_layout.h"
#include "support/check.h"

#include <errno.h>

static void the_agent_gets_what_the_user_said(void)
{
    struct record_options options = {
        .events = GAIT_EVENT_BLOCK, .with_times = true, .overflow = -1, .buffer_bytes = 8192, .with_children = true};
    struct agent_options agent;

    recorder_agent_options(&options, RING_BLOCK, &agent);
    CHECK_EQUAL(agent.events, GAIT_EVENT_BLOCK);
    CHECK_EQUAL(agent.with_times, 1);
    CHECK_EQUAL(agent.new_threads, 1);
    CHECK_EQUAL(agent.children, 1);
    CHECK_EQUAL(agent.overflow, RING_BLOCK);
    CHECK_EQUAL(agent.buffer_bytes, 8192);
    options.overflow = RING_DROP;
    recorder_agent_options(&options, RING_BLOCK, &agent);
    CHECK_EQUAL(agent.overflow, RING_DROP);
    options.with_children = false;
    recorder_agent_options(&options, RING_BLOCK, &agent);
    CHECK_EQUAL(agent.children, 0);
}

static void how_it_ended_is_told(void)
{
    struct gait_error err = {.code = ENOSPC};

    CHECK_TEXT(recorder_how(FAMILY_STOPPED, -1, &err), "detached");
    CHECK_TEXT(recorder_how(FAMILY_FAILED, 0, &err), "disk full");
    err.code = EIO;
    CHECK_TEXT(recorder_how(FAMILY_FAILED, 0, &err), "interrupted");
    CHECK_TEXT(recorder_how(FAMILY_OVER, 0, &err), "exit");
    CHECK_TEXT(recorder_how(FAMILY_OVER, 9, &err), "signal");
    CHECK_TEXT(recorder_how(FAMILY_OVER, -1, &err), "target gone");
}

static const struct check_case cases[] = {
    CHECK_CASE(how_it_ended_is_told),
    CHECK_CASE(the_agent_gets_what_the_user_said),
};

CHECK_MAIN(cases)
