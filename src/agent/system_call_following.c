/* SPDX-License-Identifier: MIT */
#include "agent/system_call_following.h"

#include "agent/function_watch.h"
#include "agent/system_call_lane.h"
#include "protocol/agent_call.h"
#include "ring/detail_record.h"
#include "stalker/call_telling.h"

#include <stddef.h>

static struct told_system_call told_of(const struct made_call *call)
{
    return (struct told_system_call){
        .number = (uint64_t)call->number,
        .arguments = call->arguments,
        .result = call->result,
        .entered_time = call->entered_time,
        .sp = call->sp,
    };
}

static void enters(struct stalker_thread *thread, const struct made_call *call, bool may_return)
{
    struct detail_lane *lane = function_watch_call_lane(thread);
    struct told_system_call told = told_of(call);

    if (lane == NULL)
        return;
    if (may_return) {
        system_call_lane_put_enter(lane, &told);
        return;
    }
    told.flags = DETAIL_SYSTEM_CALL_NEVER_RETURNED;
    system_call_lane_put(lane, &told);
}

static void left(struct stalker_thread *thread, const struct made_call *call)
{
    struct detail_lane *lane = function_watch_call_lane(thread);
    struct told_system_call told = told_of(call);

    if (lane != NULL)
        system_call_lane_put(lane, &told);
}

void system_call_following_begin(struct stalker_engine *engine, const struct agent_options *options)
{
    static const struct call_teller teller = {.enters = enters, .left = left};

    if (options->tells_system_calls == 0)
        return;
    system_call_lane_begin(options->system_call_bytes);
    call_telling_begin(engine, &teller, options->system_calls, AGENT_SYSTEM_CALL_WORDS * 64);
}
