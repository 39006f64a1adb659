/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "ring/ring_notice.h"

#include "ring/ring_region.h"
#include "support/check.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct ring_region *region;
static struct ring_notices *notices;

static const struct ring_notice question = {.kind = RING_NOTICE_EXEC, .pid = 7, .tid = 8, .fd = 9, .cookie = 10};

static void begin(void)
{
    static const struct ring_options options;

    CHECK_EQUAL(ring_region_create(&options, &region), 0);
    notices = ring_notices_in(region->base);
}

static void end(void)
{
    ring_region_destroy(region);
}

static void an_answer_wakes_who_asked(void)
{
    struct ring_notice *notice;
    pid_t child;
    int status = -1;

    begin();
    notice = ring_notice_post(region->base, &question, 10);
    CHECK(notice != NULL);
    CHECK_EQUAL(notice->kind, RING_NOTICE_EXEC);
    CHECK_EQUAL(notice->tid, 8);
    CHECK_EQUAL(notice->cookie, 10);
    child = fork();
    if (child == 0) {
        usleep(20000);
        ring_notice_answer(notice, -3);
        _exit(0);
    }
    CHECK_EQUAL(ring_notice_wait(region->base, notice, RING_NOTICE_POSTED, 60000), RING_NOTICE_ANSWERED);
    CHECK_EQUAL(notice->answer, -3);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    ring_notice_release(notice);
    CHECK(ring_notice_post(region->base, &question, 10) == notice);
    end();
}

static void nobody_waits_for_ever(void)
{
    struct ring_notice *notice;

    begin();
    notice = ring_notice_post(region->base, &question, 10);
    CHECK_EQUAL(ring_notice_wait(region->base, notice, RING_NOTICE_POSTED, 30), RING_NOTICE_POSTED);
    CHECK(!ring_notice_change(region->base, notice, RING_NOTICE_ANSWERED, RING_NOTICE_OVER));
    CHECK(ring_notice_change(region->base, notice, RING_NOTICE_POSTED, RING_NOTICE_FREE));
    end();
}

static void a_dead_reader_is_not_waited_for(void)
{
    struct ring_notice *notice;

    begin();
    notice = ring_notice_post(region->base, &question, 10);
    atomic_store(&notices->reader, FUTEX_OWNER_DIED);
    CHECK_EQUAL(ring_notice_wait(region->base, notice, RING_NOTICE_POSTED, 3600000), RING_NOTICE_POSTED);
    CHECK(ring_notice_post(region->base, &question, 10) == NULL);
    end();
}

static void a_reader_that_wants_none_gets_none(void)
{
    begin();
    atomic_store(&notices->is_closed, 1);
    CHECK(ring_notice_post(region->base, &question, 10) == NULL);
    end();
}

static void places_are_limited(void)
{
    begin();
    for (unsigned i = 0; i < RING_NOTICE_COUNT; i++)
        CHECK(ring_notice_post(region->base, &question, 10) == &notices->notices[i]);
    CHECK(ring_notice_post(region->base, &question, 10) == NULL);
    ring_notice_release(&notices->notices[5]);
    CHECK(ring_notice_post(region->base, &question, 10) == &notices->notices[5]);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(an_answer_wakes_who_asked),
    CHECK_CASE(nobody_waits_for_ever),
    CHECK_CASE(a_dead_reader_is_not_waited_for),
    CHECK_CASE(a_reader_that_wants_none_gets_none),
    CHECK_CASE(places_are_limited),
};

CHECK_MAIN(cases)
