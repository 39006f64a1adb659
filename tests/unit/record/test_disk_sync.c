/* SPDX-License-Identifier: MIT */
/* syncfs is ours here: it counts, and says what it is told to. */
#define _GNU_SOURCE
#include "record/disk_sync.h"

#include "support/check.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic unsigned calls;
static _Atomic int last_folder;
static _Atomic int failure;

int syncfs(int fd)
{
    int code = failure;

    last_folder = fd;
    calls++;
    errno = code;
    return code == 0 ? 0 : -1;
}

static void wait_for_calls(unsigned count)
{
    while (calls < count)
        usleep(1000);
}

static struct disk_sync *begin(enum disk_sync_when when, unsigned seconds)
{
    struct disk_sync *sync = NULL;

    calls = 0;
    failure = 0;
    CHECK_EQUAL(disk_sync_begin(&(struct disk_sync_options){when, seconds}, 77, &sync), 0);
    return sync;
}

static void never_is_never(void)
{
    CHECK_EQUAL(disk_sync_end(begin(DISK_SYNC_NEVER, 0)), 0);
    CHECK_EQUAL(calls, 0);
}

static void the_end_is_the_end(void)
{
    struct disk_sync *sync = begin(DISK_SYNC_END, 0);

    CHECK_EQUAL(calls, 0);
    CHECK_EQUAL(disk_sync_end(sync), 0);
    CHECK_EQUAL(calls, 1);
    CHECK_EQUAL(last_folder, 77);
    sync = begin(DISK_SYNC_END, 0);
    failure = EIO;
    CHECK_EQUAL(disk_sync_end(sync), -EIO);
}

static void time_and_again_is_by_the_clock(void)
{
    struct disk_sync *sync = begin(DISK_SYNC_SECONDS, 1);

    wait_for_calls(2);
    CHECK_EQUAL(disk_sync_end(sync), 0);
    CHECK(calls >= 3);
}

static void a_long_wait_ends_at_once(void)
{
    struct disk_sync *sync = begin(DISK_SYNC_SECONDS, 1000000);

    CHECK_EQUAL(disk_sync_end(sync), 0);
    CHECK_EQUAL(calls, 1);
}

static void what_failed_once_is_told_at_the_end(void)
{
    struct disk_sync *sync = begin(DISK_SYNC_SECONDS, 1);

    failure = EIO;
    wait_for_calls(1);
    failure = 0;
    CHECK_EQUAL(disk_sync_end(sync), -EIO);
}

static const struct check_case cases[] = {
    CHECK_CASE(never_is_never),
    CHECK_CASE(the_end_is_the_end),
    CHECK_CASE(time_and_again_is_by_the_clock),
    CHECK_CASE(a_long_wait_ends_at_once),
    CHECK_CASE(what_failed_once_is_told_at_the_end),
};

CHECK_MAIN(cases)
