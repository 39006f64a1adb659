/* SPDX-License-Identifier: MIT */
/*
 * What does it cost to translate code: how long for a block, how much memory for it, and how much more for many threads
 * that run the same? The time is that of a first run less that of a second one, by engines that are new in each round;
 * it has everything in it that a first run pays for. Environment: as bench/follow.c.
 */
#include "support/followed_run.h"
#include "support/peer_figures.h"
#include "support/workload.h"

#include <pthread.h>
#include <stdio.h>

#define ROUNDS        7
#define SCALE_PERCENT 4
#define THREADS       64

static const struct followed_way way = {.name = "followed"};

struct translation_figures {
    double native_ns, first_ns, warm_ns; /* the best of all rounds */
    struct gait_stalker_statistics statistics;
};

static int read_statistics(struct gait_stalker *stalker, struct gait_stalker_statistics *statistics)
{
    struct gait_error err;

    statistics->size_bytes = sizeof(*statistics);
    if (gait_stalker_read_statistics(stalker, statistics, &err) == 0)
        return 0;
    fprintf(stderr, "bench: %s\n", err.text);
    return -1;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* A first run and a warm one by a new engine. */
static int run_round(const struct followed_subject *subject, struct translation_figures *best)
{
    struct gait_stalker *stalker = followed_run_stalker();
    double native, first, warm;
    int error = -1;

    if (stalker != NULL && followed_run_once(NULL, NULL, subject, &native) == 0 &&
        followed_run_once(stalker, &way, subject, &first) == 0 && followed_run_once(stalker, &way, subject, &warm) == 0)
        error = read_statistics(stalker, &best->statistics);
    gait_stalker_destroy(stalker);
    if (error != 0)
        return error;
    best->native_ns = smaller(best->native_ns, native);
    best->first_ns = smaller(best->first_ns, first);
    best->warm_ns = smaller(best->warm_ns, warm);
    return 0;
}

static int measure(const struct workload *workload, struct translation_figures *figures_out)
{
    struct translation_figures best = {1e18, 1e18, 1e18, {0}};
    struct followed_subject subject;
    int error = followed_subject_init(&subject, workload, followed_run_scale(SCALE_PERCENT));

    if (error != 0)
        return error;
    for (int round = 0; round < ROUNDS && error == 0; round++)
        error = run_round(&subject, &best);
    followed_subject_deinit(&subject);
    *figures_out = best;
    return error;
}

static double us_per_block(const struct translation_figures *figures)
{
    return (figures->first_ns - figures->warm_ns) / 1e3 / (double)figures->statistics.blocks;
}

static void print_row(const char *name, const struct translation_figures *figures)
{
    const struct gait_stalker_statistics *statistics = &figures->statistics;

    printf("| %-16s | %9.2f | %12.2f | %11.2f | %6llu | %12.2f | %10.0f | %12.0f |\n", name, figures->native_ns / 1e6,
           figures->first_ns / 1e6, figures->warm_ns / 1e6, (unsigned long long)statistics->blocks,
           us_per_block(figures), (double)statistics->code_bytes / (double)statistics->blocks,
           (double)statistics->memory_bytes / (double)statistics->blocks);
}

static void add(struct translation_figures *sum, const struct translation_figures *figures)
{
    sum->native_ns += figures->native_ns;
    sum->first_ns += figures->first_ns;
    sum->warm_ns += figures->warm_ns;
    sum->statistics.blocks += figures->statistics.blocks;
    sum->statistics.code_bytes += figures->statistics.code_bytes;
    sum->statistics.memory_bytes += figures->statistics.memory_bytes;
}

static int print_workloads(void)
{
    struct translation_figures sum = {0};

    printf("A new engine for each row and round, %u %% of the work, best of %d rounds.\n\n",
           followed_run_scale(SCALE_PERCENT), ROUNDS);
    printf("| %-16s | native ms | first run ms | warm run ms | blocks | us per block | code bytes | memory bytes |\n"
           "|---|---|---|---|---|---|---|---|\n",
           "workload");
    for (size_t i = 0; i < WORKLOAD_COUNT; i++) {
        struct translation_figures figures;
        int error = measure(workloads[i], &figures);

        if (error != 0)
            return error;
        print_row(workloads[i]->name, &figures);
        add(&sum, &figures);
    }
    print_row("all", &sum);
    printf("| %-16s | %9s | %12s | %11s | %6s | %12s | %10s | %12s |\n", PEER_NAME " (ref.)", "", "", "", "",
           "3.4 to 5.2", "", "767");
    return 0;
}

/* ---- many threads ------------------------------------------------------------------------------------------------ */

struct follower {
    pthread_t thread;
    struct gait_stalker *stalker;
    struct followed_subject subject;
    int error;
};

static void *run_follower(void *context)
{
    struct follower *follower = context;
    double ns;

    follower->error = followed_run_once(follower->stalker, &way, &follower->subject, &ns);
    return NULL;
}

static int run_followers(struct follower *followers, size_t count)
{
    size_t started = 0;
    int error = 0;

    while (started < count && pthread_create(&followers[started].thread, NULL, run_follower, &followers[started]) == 0)
        started++;
    for (size_t i = 0; i < started; i++) {
        pthread_join(followers[i].thread, NULL);
        error |= followers[i].error;
    }
    if (started < count)
        fprintf(stderr, "bench: cannot make more than %zu threads\n", started);
    return started < count ? -1 : error;
}

/* What so many threads, each with the same work of its own, make an engine use. */
static int measure_threads(size_t count, struct gait_stalker_statistics *statistics_out)
{
    static struct follower followers[THREADS];
    struct gait_stalker *stalker = followed_run_stalker();
    size_t prepared = 0;
    int error = stalker == NULL ? -1 : 0;

    while (error == 0 && prepared < count) {
        followers[prepared].stalker = stalker;
        error =
            followed_subject_init(&followers[prepared].subject, &workload_sqlite, followed_run_scale(SCALE_PERCENT));
        prepared += error == 0;
    }
    if (error == 0)
        error = run_followers(followers, count);
    if (error == 0)
        error = read_statistics(stalker, statistics_out);
    for (size_t i = 0; i < prepared; i++)
        followed_subject_deinit(&followers[i].subject);
    gait_stalker_destroy(stalker);
    return error;
}

static int print_threads(void)
{
    struct gait_stalker_statistics one, many;

    if (measure_threads(1, &one) != 0 || measure_threads(THREADS, &many) != 0)
        return -1;
    printf("\n| threads that run %s | blocks | code KiB | memory KiB | times one thread | %s (from reference) |\n"
           "|---|---|---|---|---|---|\n",
           workload_sqlite.name, PEER_NAME);
    printf("| %d | %llu | %llu | %llu | 1 | 1 |\n", 1, (unsigned long long)one.blocks,
           (unsigned long long)one.code_bytes >> 10, (unsigned long long)one.memory_bytes >> 10);
    printf("| %d | %llu | %llu | %llu | %.2f | %d: a cache for each |\n", THREADS, (unsigned long long)many.blocks,
           (unsigned long long)many.code_bytes >> 10, (unsigned long long)many.memory_bytes >> 10,
           (double)many.memory_bytes / (double)one.memory_bytes, THREADS);
    return 0;
}

int main(void)
{
    return print_workloads() == 0 && print_threads() == 0 ? 0 : 1;
}
