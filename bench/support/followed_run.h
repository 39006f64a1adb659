/* SPDX-License-Identifier: MIT */
/*
 * Runs workloads natively and followed by the code-following engine, one after the other on the calling thread, and
 * times them by its CPU time. From the time of a followed run nothing is left out: beginning and ending to follow are
 * in it. Results are compared: a followed run whose checksum is not the native one is an error.
 */
#ifndef GAIT_BENCH_FOLLOWED_RUN_H
#define GAIT_BENCH_FOLLOWED_RUN_H

#include "base/attributes.h"
#include "gait/stalker.h"

#include <stddef.h>
#include <stdint.h>

struct workload;

#define FOLLOWED_WAYS_MAX 6

/* One way to follow. */
struct followed_way {
    const char *name;
    struct gait_follow_options options; /* its size_bytes is filled in */
};

/* The best of all rounds. */
struct followed_times {
    double native_ns;
    double followed_ns[FOLLOWED_WAYS_MAX]; /* by the ways' order */
};

/* The CPU time of the calling thread. */
double followed_run_clock_ns(void);

/* What is run: a workload at a scale, prepared. */
struct followed_subject {
    const struct workload *workload;
    void *state;
    uint64_t checksum; /* of its native result */
};

/*
 * Prepares a workload and runs it natively once, which must give the result that it expects. -EBADMSG: it did not;
 * -ENOMEM. As all functions here that can fail, it says on stderr what went wrong.
 */
int followed_subject_init(struct followed_subject *subject, const struct workload *workload,
                          unsigned scale_percent) MUST_USE;
void followed_subject_deinit(struct followed_subject *subject);

/*
 * Runs it once, by `way`, or natively without a stalker. -EBADMSG: the result was wrong; else what the stalker said.
 */
int followed_run_once(struct gait_stalker *stalker, const struct followed_way *way,
                      const struct followed_subject *subject, double *ns_out) MUST_USE;

/* What is compared with what. */
struct followed_contest {
    const struct followed_way *ways;
    size_t way_count;
    unsigned scale_percent;
    int rounds;
};

/*
 * Runs a workload natively and in each of the ways, in turn, for as many rounds as the contest says, after a first one
 * in which code is translated. Errors as above.
 */
int followed_run_compare(struct gait_stalker *stalker, const struct followed_contest *contest,
                         const struct workload *workload, struct followed_times *times_out) MUST_USE;

/*
 * How much work to do: `usual` percent of what the workloads do by themselves, times what the environment variable
 * GAIT_BENCH_SCALE says in percent. 100 is its default.
 */
unsigned followed_run_scale(unsigned usual_percent);

/* As gait_stalker_create, with words on stderr and NULL if that fails. */
struct gait_stalker *followed_run_stalker(void);

#endif
