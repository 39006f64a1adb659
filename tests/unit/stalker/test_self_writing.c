/* SPDX-License-Identifier: MIT */
/* Which opened files are the program's own memory. */
#include "stalker/self_writing.h"

#include "stalker/system_call.h"
#include "support/check.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool begins(const char *path, int flags)
{
    struct system_call call = {.number = SYS_openat, .arguments = {AT_FDCWD, (long)path, flags}};

    return self_writing_begins(&call);
}

static void own_memory_that_is_opened_for_writing_is(void)
{
    char path[64];

    CHECK(begins("/proc/self/mem", O_RDWR));
    CHECK(begins("/proc/self/mem", O_WRONLY | O_CLOEXEC));
    CHECK(begins("/proc/thread-self/mem", O_RDWR));
    CHECK(begins("/proc/self/task/7/mem", O_RDWR));
    CHECK(begins("mem", O_RDWR));
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)getpid());
    CHECK(begins(path, O_RDWR));
}

static void everything_else_is_not(void)
{
    char path[64];

    CHECK(!begins("/proc/self/mem", O_RDONLY));
    CHECK(!begins("/proc/self/maps", O_RDWR));
    CHECK(!begins("/dev/mem", O_RDWR));
    CHECK(!begins("/proc/self/memory", O_RDWR));
    CHECK(!begins("/tmp/a", O_RDWR | O_CREAT));
    CHECK(!begins("", O_RDWR));
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)getppid());
    CHECK(!begins(path, O_RDWR));
}

static void other_calls_have_their_path_elsewhere(void)
{
    uint64_t how[3] = {O_RDWR};
    struct system_call call = {.number = SYS_openat2,
                               .arguments = {AT_FDCWD, (long)"/proc/self/mem", (long)how, sizeof(how)}};

    CHECK(self_writing_begins(&call));
#ifdef SYS_open
    call = (struct system_call){.number = SYS_open, .arguments = {(long)"/proc/self/mem", O_RDWR}};
    CHECK(self_writing_begins(&call));
    call.arguments[1] = O_RDONLY;
    CHECK(!self_writing_begins(&call));
#endif
}

static void paths_that_cannot_be_read_are_none(void)
{
    static const char start[] = "/proc/self/m";
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *path;

    CHECK(!begins(NULL, O_RDWR));
    CHECK(!begins((const char *)16, O_RDWR));
    /* One that goes on where nothing is. */
    CHECK(munmap(pages + 4096, 4096) == 0);
    path = pages + 4096 - (sizeof(start) - 1);
    memcpy(path, start, sizeof(start) - 1);
    CHECK(!begins(path, O_RDWR));
    munmap(pages, 4096);
}

static const struct check_case cases[] = {
    CHECK_CASE(own_memory_that_is_opened_for_writing_is),
    CHECK_CASE(everything_else_is_not),
    CHECK_CASE(other_calls_have_their_path_elsewhere),
    CHECK_CASE(paths_that_cannot_be_read_are_none),
};

CHECK_MAIN(cases)
