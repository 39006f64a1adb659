/* SPDX-License-Identifier: MIT */
/*
 * What another engine takes for the same kinds of work, for comparison. These figures are not from the same run: they
 * were measured once, with frida-gum's Stalker (a release build of August 2026), on the same kind of machine and with
 * workloads like ours. Take them as anchors. Constant; callable from anywhere.
 */
#ifndef GAIT_BENCH_PEER_FIGURES_H
#define GAIT_BENCH_PEER_FIGURES_H

#define PEER_NAME "frida-gum"

/* The ways in which the peer was measured. */
enum peer_way {
    PEER_FOLLOWED,
    PEER_CALL,
    PEER_BLOCK,
    PEER_EXEC,
    PEER_COUNTER,
    PEER_CALLOUT,
    PEER_WAYS,
    PEER_NONE = -1
};

/* The row of its geometric means. */
#define PEER_GEOMEAN "geomean"

/* The peer's time for a workload divided by the native time. 0: it was not measured. */
double peer_figure(const char *workload, enum peer_way way);

#endif
