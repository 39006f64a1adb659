/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "ring/ring_wait.h"

#include "ring/ring_notice.h"
#include "ring/ring_reader.h"
#include "ring/ring_region.h"
#include "support/check.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RINGS  3
#define MANY   200
#define LONG_S 20

static struct ring_region *regions[RINGS];
static struct ring_reader *readers[RINGS];
static _Atomic uint32_t word;

static int take(void *context, const struct ring_batch *batch)
{
    (void)context;
    (void)batch;
    return 0;
}

static void begin(void)
{
    static const struct ring_options options;
    static const struct ring_taker taker = {take, NULL};

    for (unsigned i = 0; i < RINGS; i++) {
        CHECK_EQUAL(ring_region_create(&options, &regions[i]), 0);
        CHECK_EQUAL(ring_reader_open(regions[i]->fd, &readers[i]), 0);
        CHECK_EQUAL(ring_reader_take(readers[i], &taker), 0);
    }
}

static void end(void)
{
    for (unsigned i = 0; i < RINGS; i++) {
        ring_reader_close(readers[i]);
        ring_region_destroy(regions[i]);
    }
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Sleeps until something happens; true: before the time was over. */
static bool is_woken(struct ring_wait_word other)
{
    double start = now();

    ring_wait(readers, RINGS, other, LONG_S * 1000);
    return now() - start < LONG_S / 2;
}

static void any_ring_ends_the_sleep(void)
{
    static const struct ring_notice question = {.kind = RING_NOTICE_EXEC};

    for (unsigned i = 0; i < RINGS; i++) {
        pid_t child;
        int status;

        begin();
        child = fork();
        if (child == 0) {
            usleep(20000);
            (void)ring_notice_post(regions[i]->base, &question, 10);
            _exit(0);
        }
        CHECK(is_woken((struct ring_wait_word){&word, 0}));
        CHECK_EQUAL(waitpid(child, &status, 0), child);
        end();
    }
}

static void what_happened_before_the_sleep_ends_it(void)
{
    static const struct ring_notice question = {.kind = RING_NOTICE_EXEC};

    begin();
    CHECK(ring_notice_post(regions[1]->base, &question, 10) != NULL);
    CHECK(is_woken((struct ring_wait_word){&word, 0}));
    CHECK(is_woken((struct ring_wait_word){&word, 1}));
    end();
}

static void the_time_ends_it(void)
{
    begin();
    ring_wait(readers, RINGS, (struct ring_wait_word){&word, 0}, 5);
    CHECK_EQUAL(atomic_load(&((struct ring_header *)(void *)readers[2]->base)->is_awaited), 0);
    CHECK_EQUAL(atomic_load(&((struct ring_header *)(void *)readers[2]->base)->heartbeat), 2);
    end();
}

static void more_than_the_system_can_wait_for_are_looked_at_soon(void)
{
    struct ring_reader *many[MANY];
    double start;

    begin();
    for (unsigned i = 0; i < MANY; i++)
        many[i] = readers[i % RINGS];
    start = now();
    ring_wait(many, MANY, (struct ring_wait_word){&word, 0}, LONG_S * 1000);
    CHECK(now() - start < LONG_S / 2);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(any_ring_ends_the_sleep),
    CHECK_CASE(what_happened_before_the_sleep_ends_it),
    CHECK_CASE(the_time_ends_it),
    CHECK_CASE(more_than_the_system_can_wait_for_are_looked_at_soon),
};

CHECK_MAIN(cases)
