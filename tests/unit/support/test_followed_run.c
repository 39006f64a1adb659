/* SPDX-License-Identifier: MIT */
/* Followed runs of benchmarks: results are compared, and the amount of work can be chosen. */
#include "support/followed_run.h"

#include "support/check.h"
#include "support/peer_figures.h"
#include "support/workload.h"

#include <errno.h>

static struct gait_stalker *stalker;
static unsigned runs;

static int prepare(const void *subject, unsigned scale_percent, void **state_out)
{
    (void)subject;
    (void)scale_percent;
    *state_out = &runs;
    return 0;
}

static void discard(void *state)
{
    (void)state;
}

static uint64_t run_alike(void *state)
{
    ++*(unsigned *)state;
    return 42;
}

static uint64_t run_unlike(void *state)
{
    ++*(unsigned *)state;
    return gait_stalker_is_following_me(stalker) ? 41 : 42;
}

static uint64_t run_failing(void *state)
{
    (void)state;
    return WORKLOAD_FAILED;
}

static int compare(uint64_t (*run)(void *state), struct followed_times *times)
{
    static const struct followed_way ways[] = {{.name = "plain"},
                                               {.name = "blocks", .options.events = GAIT_EVENT_BLOCK}};
    const struct followed_contest contest = {ways, 2, 100, 3};
    const struct workload workload = {.name = "made up", .prepare = prepare, .run = run, .discard = discard};
    int result;

    runs = 0;
    stalker = followed_run_stalker();
    CHECK(stalker != NULL);
    result = followed_run_compare(stalker, &contest, &workload, times);
    gait_stalker_destroy(stalker);
    return result;
}

static void each_round_runs_natively_and_in_each_way(void)
{
    struct followed_times times = {0};

    CHECK_EQUAL(compare(run_alike, &times), 0);
    /* one for the result, then a round that does not count and three that do */
    CHECK_EQUAL(runs, 1 + 4 * 3);
    CHECK(times.native_ns > 0);
    CHECK(times.followed_ns[0] > 0);
    CHECK(times.followed_ns[1] > 0);
}

static void a_result_that_differs_when_followed_is_an_error(void)
{
    struct followed_times times = {.native_ns = 7};

    CHECK_EQUAL(compare(run_unlike, &times), -EBADMSG);
    CHECK(times.native_ns == 7);
}

static void a_workload_that_fails_is_an_error(void)
{
    struct followed_times times;

    CHECK_EQUAL(compare(run_failing, &times), -EBADMSG);
}

static void the_environment_scales_the_work(void)
{
    unsetenv("GAIT_BENCH_SCALE");
    CHECK_EQUAL(followed_run_scale(40), 40);
    setenv("GAIT_BENCH_SCALE", "250", 1);
    CHECK_EQUAL(followed_run_scale(40), 100);
    setenv("GAIT_BENCH_SCALE", "1", 1);
    CHECK_EQUAL(followed_run_scale(40), 1);
    unsetenv("GAIT_BENCH_SCALE");
}

static void peer_figures_are_found_by_name(void)
{
    CHECK(peer_figure("sqlite", PEER_FOLLOWED) == 10.97);
    CHECK(peer_figure(PEER_GEOMEAN, PEER_CALLOUT) == 167);
    CHECK(peer_figure("sqlite", PEER_NONE) == 0);
    CHECK(peer_figure("made up", PEER_EXEC) == 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(each_round_runs_natively_and_in_each_way), CHECK_CASE(a_result_that_differs_when_followed_is_an_error),
    CHECK_CASE(a_workload_that_fails_is_an_error),        CHECK_CASE(the_environment_scales_the_work),
    CHECK_CASE(peer_figures_are_found_by_name),
};

CHECK_MAIN(cases)
