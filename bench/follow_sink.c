/* SPDX-License-Identifier: MIT */
/*
 * What do events cost that somebody looks at? Each one is handed to a sink, which counts it by its kind. Arguments and
 * environment are those of bench/follow.c.
 */
#include "support/followed_table.h"

#define ROUNDS        2
#define SCALE_PERCENT 10
#define KINDS_MAX     32

static uint64_t totals[KINDS_MAX];

static int count_events(void *context, const struct gait_event *events, size_t count)
{
    uint64_t *counts = context;

    for (size_t i = 0; i < count; i++)
        counts[events[i].kind & (KINDS_MAX - 1)]++;
    return 0;
}

int main(int argc, char **argv)
{
    static const struct gait_event_sink sink = {count_events, totals};
    static const struct followed_way ways[] = {
        {.name = "block", .options = {.events = GAIT_EVENT_BLOCK, .sink = &sink}},
        {.name = "call+ret", .options = {.events = GAIT_EVENT_CALL | GAIT_EVENT_RET, .sink = &sink}},
        {.name = "exec", .options = {.events = GAIT_EVENT_EXEC, .sink = &sink}},
    };
    /* The peer has no figure for calls and returns together: its own stands for calls alone. */
    struct followed_table table = {
        .contest = {ways, 3, followed_run_scale(SCALE_PERCENT), ROUNDS},
        .peers = {PEER_BLOCK, PEER_CALL, PEER_EXEC},
    };

    return followed_table_print(&table, argc, argv);
}
