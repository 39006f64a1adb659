/* SPDX-License-Identifier: MIT */
/* time limit: 120 s */
#include "support/workload.h"

#include "support/check.h"

#include <pthread.h>

#define SCALE_PERCENT 5
#define THREADS       2

static void *prepared(const struct workload *workload, unsigned scale_percent)
{
    void *state = NULL;
    int error = workload_prepare(workload, scale_percent, &state);

    if (error != 0) {
        check_failures++;
        printf("%s cannot be prepared: %s\n", workload->name, strerror(-error));
    }
    return state;
}

static void check_same(const struct workload *workload, uint64_t actual, uint64_t expected)
{
    if (actual == expected && actual != WORKLOAD_FAILED)
        return;
    check_failures++;
    printf("%s: 0x%" PRIx64 "%s, expected 0x%" PRIx64 "\n", workload->name, actual,
           actual == WORKLOAD_FAILED ? " (failed)" : "", expected);
}

static void workloads_are_found_by_name(void)
{
    for (size_t i = 0; i < WORKLOAD_COUNT; i++)
        CHECK(workload_find(workloads[i]->name) == workloads[i]);
    CHECK(workload_find("idling") == NULL);
    CHECK(workload_find("") == NULL);
}

static void each_run_on_a_state_gives_the_same_checksum(void)
{
    for (size_t i = 0; i < WORKLOAD_COUNT; i++) {
        const struct workload *workload = workloads[i];
        void *state = prepared(workload, SCALE_PERCENT);

        if (state == NULL)
            continue;

        uint64_t first = workload->run(state);

        check_same(workload, first, first);
        check_same(workload, workload->run(state), first);
        check_same(workload, workload->run(state), first);
        workload->discard(state);
    }
}

static void results_are_what_is_expected_of_them(void)
{
    for (size_t i = 0; i < WORKLOAD_COUNT; i++) {
        const struct workload *workload = workloads[i];

        CHECK(workload->expect != NULL || strstr(workload->name, "decompress") == NULL);
        if (workload->expect == NULL)
            continue;

        void *state = prepared(workload, SCALE_PERCENT);

        if (state == NULL)
            continue;
        check_same(workload, workload->run(state), workload->expect(state));
        workload->discard(state);
    }
}

static void the_scale_changes_the_work(void)
{
    for (size_t i = 0; i < WORKLOAD_COUNT; i++) {
        const struct workload *workload = workloads[i];
        void *small = prepared(workload, 1), *larger = prepared(workload, SCALE_PERCENT);

        if (small != NULL && larger != NULL)
            CHECK(workload->run(small) != workload->run(larger));
        workload->discard(small);
        workload->discard(larger);
    }
}

struct runner {
    pthread_t thread;
    pthread_barrier_t *start;
    const struct workload *workload;
    void *state;
    uint64_t checksums[2];
};

static void *run_twice(void *context)
{
    struct runner *runner = context;

    pthread_barrier_wait(runner->start);
    for (size_t i = 0; i < 2; i++)
        runner->checksums[i] = runner->workload->run(runner->state);
    return NULL;
}

/* Runs each state on a thread of its own, all at once. */
static void run_together(struct runner *runners)
{
    pthread_barrier_t start;

    pthread_barrier_init(&start, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        runners[i].start = &start;
        if (pthread_create(&runners[i].thread, NULL, run_twice, &runners[i]) != 0) {
            perror("cannot start a thread");
            exit(1);
        }
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(runners[i].thread, NULL);
    pthread_barrier_destroy(&start);
}

static void threads_at_once_find_what_one_alone_finds(void)
{
    for (size_t i = 0; i < WORKLOAD_COUNT; i++) {
        const struct workload *workload = workloads[i];
        struct runner runners[THREADS] = {0};
        void *alone = prepared(workload, SCALE_PERCENT);

        for (size_t j = 0; j < THREADS; j++)
            runners[j] = (struct runner){.workload = workload, .state = prepared(workload, SCALE_PERCENT)};
        if (alone == NULL || runners[0].state == NULL || runners[1].state == NULL)
            return;
        run_together(runners);

        uint64_t expected = workload->run(alone);

        for (size_t j = 0; j < THREADS; j++) {
            check_same(workload, runners[j].checksums[0], expected);
            check_same(workload, runners[j].checksums[1], expected);
            workload->discard(runners[j].state);
        }
        workload->discard(alone);
    }
}

static void the_smallest_scale_still_works(void)
{
    for (size_t i = 0; i < WORKLOAD_COUNT; i++) {
        void *state = prepared(workloads[i], 0);

        if (state != NULL)
            CHECK(workloads[i]->run(state) != WORKLOAD_FAILED);
        workloads[i]->discard(state);
        workloads[i]->discard(NULL);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(workloads_are_found_by_name),
    CHECK_CASE(each_run_on_a_state_gives_the_same_checksum),
    CHECK_CASE(results_are_what_is_expected_of_them),
    CHECK_CASE(the_scale_changes_the_work),
    CHECK_CASE(threads_at_once_find_what_one_alone_finds),
    CHECK_CASE(the_smallest_scale_still_works),
};

CHECK_MAIN(cases)
