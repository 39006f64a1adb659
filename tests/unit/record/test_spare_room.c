/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record/spare_room.h"

#include "support/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void it_takes_room_and_has_no_name(void)
{
    char path[] = "/tmp/gait-test-XXXXXX";
    struct stat status;
    int folder, spare;

    CHECK(mkdtemp(path) != NULL);
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    spare = spare_room_hold(folder);
    if (spare != -1) {
        CHECK_EQUAL(fstat(spare, &status), 0);
        CHECK(status.st_blocks * 512 >= 64 << 10);
        CHECK_EQUAL(status.st_nlink, 0);
    }
    CHECK_EQUAL(spare_room_release(spare), -1);
    CHECK_EQUAL(spare_room_release(-1), -1);
    close(folder);
    /* It is empty. */
    CHECK_EQUAL(rmdir(path), 0);
}

static void a_folder_that_is_none_holds_no_room(void)
{
    CHECK_EQUAL(spare_room_hold(-1), -1);
}

static const struct check_case cases[] = {
    CHECK_CASE(it_takes_room_and_has_no_name),
    CHECK_CASE(a_folder_that_is_none_holds_no_room),
};

CHECK_MAIN(cases)
