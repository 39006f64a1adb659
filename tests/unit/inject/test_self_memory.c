/* SPDX-License-Identifier: MIT */
#include "inject/self_memory.h"

#include "support/check.h"

#include <fcntl.h>
#include <unistd.h>

static bool is_open_with(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    bool is_open;

    CHECK(fd >= 0);
    is_open = self_memory_is_open(getpid());
    close(fd);
    return is_open;
}

static void memory_that_can_be_written_is_found(void)
{
    CHECK(!self_memory_is_open(getpid()));
    CHECK(is_open_with("/proc/self/mem", O_RDWR));
    CHECK(is_open_with("/proc/self/mem", O_WRONLY));
    CHECK(!is_open_with("/proc/self/mem", O_RDONLY));
    CHECK(!is_open_with("/dev/null", O_RDWR));
    CHECK(!self_memory_is_open(getpid()));
}

static void nobody_has_nothing_open(void)
{
    CHECK(!self_memory_is_open(0x7fffffff));
}

static const struct check_case cases[] = {
    CHECK_CASE(memory_that_can_be_written_is_found),
    CHECK_CASE(nobody_has_nothing_open),
};

CHECK_MAIN(cases)
