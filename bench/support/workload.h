/* SPDX-License-Identifier: MIT */
/*
 * Work that real libraries do inside this process, for measuring and testing what it costs, or breaks, to follow their
 * code. All of it is deterministic: the same workload at the same scale gives the same checksum on every machine that
 * has the same version of the library, in every run and on every thread. The list is constant; callable from anywhere.
 */
#ifndef GAIT_BENCH_WORKLOAD_H
#define GAIT_BENCH_WORKLOAD_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

/* What run returns instead of a checksum when the library reports an error or its result is wrong. */
#define WORKLOAD_FAILED UINT64_C(0)

struct workload {
    const char *name;
    /* Which of the things that share these functions it is, such as a codec or a script; for prepare only. */
    const void *subject;
    /*
     * Makes all that is not to be measured: input, buffers, interpreters. At 100 percent, run takes about a tenth of a
     * second. The state belongs to the caller, who lets one thread at a time use it, and ends it with discard. Returns
     * 0 or -errno. Called through workload_prepare.
     */
    int (*prepare)(const void *subject, unsigned scale_percent, void **state_out);
    /* Does the work once, from the same start each time. Returns a checksum of the result, or WORKLOAD_FAILED. */
    uint64_t (*run)(void *state);
    /* What run must return, found without it; no function where only run can tell. */
    uint64_t (*expect)(const void *state);
    /* Ends what prepare began; NULL is fine. */
    void (*discard)(void *state);
};

enum {
#define WORKLOAD(name) WORKLOAD_NUMBER_##name,
#include "support/workloads.def"
#undef WORKLOAD
    WORKLOAD_COUNT
};

#define WORKLOAD(name) extern const struct workload workload_##name;
#include "support/workloads.def"
#undef WORKLOAD

/* All of them, in the order of workloads.def. */
extern const struct workload *const workloads[WORKLOAD_COUNT];

/* The workload of that name; NULL: there is none. */
const struct workload *workload_find(const char *name);

/* Prepares a workload, whose functions take the state from then on; see the member of that name. */
int workload_prepare(const struct workload *workload, unsigned scale_percent, void **state_out) MUST_USE;

/* That many percent of an amount, at least 1; for prepare functions. */
size_t workload_scale(size_t amount, unsigned scale_percent);

#endif
