/* SPDX-License-Identifier: MIT */
/*
 * Native and followed runs in turn. What is timed is a call through the workload's function pointer; while followed,
 * that call and the one that ends following are all that this file's code does.
 */
#include "support/followed_run.h"

#include "support/workload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SCALE_MAX 100000

double followed_run_clock_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

unsigned followed_run_scale(unsigned usual_percent)
{
    const char *text = getenv("GAIT_BENCH_SCALE");
    char *end = NULL;
    unsigned long percent;

    if (text == NULL || *text == 0)
        return usual_percent;
    percent = strtoul(text, &end, 10);
    if (*end != 0 || percent == 0 || percent > SCALE_MAX) {
        fprintf(stderr, "bench: GAIT_BENCH_SCALE=%s is not a number of percent from 1 to %d\n", text, SCALE_MAX);
        exit(2);
    }
    percent = percent * usual_percent / 100;
    return percent == 0 ? 1 : (unsigned)percent;
}

struct gait_stalker *followed_run_stalker(void)
{
    struct gait_stalker *stalker;
    struct gait_error err;

    if (gait_stalker_create(NULL, &stalker, &err) == 0)
        return stalker;
    fprintf(stderr, "bench: %s\n", err.text);
    return NULL;
}

static int wrong_result(const struct followed_subject *subject, const char *way, uint64_t result)
{
    fprintf(stderr, "bench: %s, %s: the result is %016" PRIx64 ", and should be %016" PRIx64 "\n",
            subject->workload->name, way, result, subject->checksum);
    return -EBADMSG;
}

int followed_subject_init(struct followed_subject *subject, const struct workload *workload, unsigned scale_percent)
{
    uint64_t result;
    int error;

    *subject = (struct followed_subject){.workload = workload};
    error = workload_prepare(workload, scale_percent, &subject->state);
    if (error != 0) {
        fprintf(stderr, "bench: cannot prepare %s: %s\n", workload->name, strerror(-error));
        return error;
    }
    result = workload->run(subject->state);
    subject->checksum = workload->expect != NULL ? workload->expect(subject->state) : result;
    if (result != WORKLOAD_FAILED && result == subject->checksum)
        return 0;
    error = wrong_result(subject, "native", result);
    followed_subject_deinit(subject);
    return error;
}

void followed_subject_deinit(struct followed_subject *subject)
{
    subject->workload->discard(subject->state);
}

static int run_followed(struct gait_stalker *stalker, const struct followed_way *way,
                        const struct followed_subject *subject, uint64_t *result_out)
{
    struct gait_follow_options options = way->options;
    struct gait_error err;
    int error;

    options.size_bytes = sizeof(options);
    error = gait_stalker_follow_me(stalker, &options, &err);
    if (error == 0) {
        *result_out = subject->workload->run(subject->state);
        error = gait_stalker_unfollow_me(stalker, &err);
    }
    if (error != 0)
        fprintf(stderr, "bench: %s, %s: %s\n", subject->workload->name, way->name, err.text);
    return error;
}

int followed_run_once(struct gait_stalker *stalker, const struct followed_way *way,
                      const struct followed_subject *subject, double *ns_out)
{
    double start = followed_run_clock_ns(), ns;
    uint64_t result = WORKLOAD_FAILED;
    int error = 0;

    if (stalker == NULL)
        result = subject->workload->run(subject->state);
    else
        error = run_followed(stalker, way, subject, &result);
    ns = followed_run_clock_ns() - start;
    if (error != 0)
        return error;
    if (result != subject->checksum)
        return wrong_result(subject, stalker == NULL ? "native" : way->name, result);
    *ns_out = ns;
    return 0;
}

static double better(double best_ns, double ns, int round)
{
    return round <= 0 || ns < best_ns ? ns : best_ns;
}

static int run_round(struct gait_stalker *stalker, const struct followed_contest *contest,
                     const struct followed_subject *subject, int round, struct followed_times *times)
{
    double ns;
    int error = followed_run_once(NULL, NULL, subject, &ns);

    if (error != 0)
        return error;
    times->native_ns = better(times->native_ns, ns, round);
    for (size_t i = 0; i < contest->way_count; i++) {
        error = followed_run_once(stalker, &contest->ways[i], subject, &ns);
        if (error != 0)
            return error;
        times->followed_ns[i] = better(times->followed_ns[i], ns, round);
    }
    return 0;
}

int followed_run_compare(struct gait_stalker *stalker, const struct followed_contest *contest,
                         const struct workload *workload, struct followed_times *times_out)
{
    struct followed_subject subject;
    struct followed_times times;
    int error = followed_subject_init(&subject, workload, contest->scale_percent);

    if (error != 0)
        return error;
    /* Round -1 is not counted: what it found is replaced by round 0. */
    for (int round = -1; round < contest->rounds && error == 0; round++)
        error = run_round(stalker, contest, &subject, round, &times);
    followed_subject_deinit(&subject);
    if (error == 0)
        *times_out = times;
    return error;
}
