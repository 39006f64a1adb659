/* SPDX-License-Identifier: MIT */
/*
 * How much slower is a thread that is followed, when all its code is translated and nothing is observed?
 * `build/bench/follow sqlite fib` measures only those workloads; GAIT_BENCH_SCALE=300 lets each do three times as much.
 */
#include "support/followed_table.h"

#define ROUNDS        5
#define SCALE_PERCENT 100

int main(int argc, char **argv)
{
    static const struct followed_way ways[] = {{.name = "followed"}};
    struct followed_table table = {
        .contest = {ways, 1, followed_run_scale(SCALE_PERCENT), ROUNDS},
        .peers = {PEER_FOLLOWED},
    };

    return followed_table_print(&table, argc, argv);
}
