/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "ring/ring_presence.h"

#include "ring/ring_notice.h"
#include "ring/ring_region.h"
#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define RINGS 3

static struct ring_region *regions[RINGS];

static struct ring_notices *notices_of(unsigned ring)
{
    return ring_notices_in(regions[ring]->base);
}

static void begin(void)
{
    static const struct ring_options options;

    for (unsigned i = 0; i < RINGS; i++)
        CHECK_EQUAL(ring_region_create(&options, &regions[i]), 0);
}

static void end(void)
{
    for (unsigned i = 0; i < RINGS; i++)
        ring_region_destroy(regions[i]);
}

static uint32_t reader_of(unsigned ring)
{
    return atomic_load(&notices_of(ring)->reader);
}

/* Reads all rings, leaves the one in the middle, and is killed. */
static void read_until_killed(void)
{
    int places[RINGS];

    for (unsigned i = 0; i < RINGS; i++)
        if (ring_presence_begin(regions[i]->fd, &places[i]) != 0)
            _exit(1);
    for (unsigned i = 0; i < RINGS; i++)
        if (reader_of(i) != (uint32_t)gettid())
            _exit(2);
    ring_presence_end(places[1]);
    raise(SIGKILL);
    _exit(3);
}

static void writers_see_that_a_reader_was_killed(void)
{
    int status = -1;
    pid_t child;

    begin();
    CHECK(!ring_notices_reader_died(notices_of(0)));
    child = fork();
    if (child == 0)
        read_until_killed();
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, SIGKILL);
    for (unsigned i = 0; i < RINGS; i++)
        CHECK(ring_notices_reader_died(notices_of(i)));
    end();
}

static void places_are_used_again(void)
{
    int first = -1, second = -1;

    begin();
    CHECK_EQUAL(ring_presence_begin(regions[0]->fd, &first), 0);
    CHECK_EQUAL(reader_of(0), (uint32_t)gettid());
    ring_presence_end(first);
    CHECK(ring_notices_reader_died(notices_of(0)));
    CHECK_EQUAL(ring_presence_begin(regions[1]->fd, &second), 0);
    CHECK_EQUAL(second, first);
    CHECK_EQUAL(reader_of(1), (uint32_t)gettid());
    ring_presence_end(second);
    ring_presence_end(-1);
    end();
}

static void what_is_no_file_is_refused(void)
{
    int place = -1;

    CHECK_EQUAL(ring_presence_begin(-1, &place), -EBADF);
    CHECK_EQUAL(place, -1);
}

static void there_may_be_too_many(void)
{
    int places[RING_PRESENCE_MAX], one_more;

    begin();
    for (unsigned i = 0; i < RING_PRESENCE_MAX; i++)
        CHECK_EQUAL(ring_presence_begin(regions[0]->fd, &places[i]), 0);
    CHECK_EQUAL(ring_presence_begin(regions[0]->fd, &one_more), -ENOSPC);
    for (unsigned i = 0; i < RING_PRESENCE_MAX; i++)
        ring_presence_end(places[i]);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(writers_see_that_a_reader_was_killed),
    CHECK_CASE(places_are_used_again),
    CHECK_CASE(what_is_no_file_is_refused),
    CHECK_CASE(there_may_be_too_many),
};

CHECK_MAIN(cases)
