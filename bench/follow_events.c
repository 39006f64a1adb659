/* SPDX-License-Identifier: MIT */
/*
 * What do events cost, from the program's instruction to the thread's buffer? There is no sink: a full buffer begins
 * anew. Arguments and environment are those of bench/follow.c.
 */
#include "support/followed_table.h"

#define ROUNDS        3
#define SCALE_PERCENT 50

int main(int argc, char **argv)
{
    static const struct followed_way ways[] = {
        {.name = "block", .options.events = GAIT_EVENT_BLOCK},
        {.name = "call+ret", .options.events = GAIT_EVENT_CALL | GAIT_EVENT_RET},
        {.name = "exec", .options.events = GAIT_EVENT_EXEC},
        {.name = "all",
         .options.events = GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_EXEC | GAIT_EVENT_BLOCK | GAIT_EVENT_COMPILE},
    };
    /* The peer has no figure for calls and returns together: its own stands for calls alone. */
    struct followed_table table = {
        .contest = {ways, 4, followed_run_scale(SCALE_PERCENT), ROUNDS},
        .peers = {PEER_BLOCK, PEER_CALL, PEER_EXEC, PEER_NONE},
    };

    return followed_table_print(&table, argc, argv);
}
