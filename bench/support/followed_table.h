/* SPDX-License-Identifier: MIT */
/*
 * The table that the benchmarks of following print: a row for each workload, with the native time, and for each way to
 * follow the time, its ratio to the native one and the peer's ratio. Markdown, to be pasted into docs/performance.md.
 */
#ifndef GAIT_BENCH_FOLLOWED_TABLE_H
#define GAIT_BENCH_FOLLOWED_TABLE_H

#include "support/followed_run.h"
#include "support/peer_figures.h"

struct followed_table {
    struct followed_contest contest;
    enum peer_way peers[FOLLOWED_WAYS_MAX]; /* what each of its ways is compared with */
};

/*
 * Measures the workloads that the arguments of the program name, all of them if there are none, and prints the table.
 * Returns the exit status: 0; 1: something failed, or a result was wrong; 2: there is no such workload.
 */
int followed_table_print(const struct followed_table *table, int argument_count, char **arguments);

#endif
