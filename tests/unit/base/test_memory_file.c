/* SPDX-License-Identifier: MIT */
#include "base/memory_file.h"

#include "base/memory_map.h"
#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void the_file_has_its_size_and_closes_on_exec(void)
{
    struct stat status;
    int fd = -1;

    CHECK_EQUAL(memory_file_create("test", 123456, false, &fd), 0);
    CHECK_EQUAL(fstat(fd, &status), 0);
    CHECK_EQUAL(status.st_size, 123456);
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    memory_file_close(fd);
    CHECK_EQUAL(fcntl(fd, F_GETFD), -1);
}

static void limits_for_files_do_not_count(void)
{
    struct rlimit before, limit;
    int fd = -1;

    CHECK_EQUAL(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){4096, before.rlim_max};
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
    /* Beyond it SIGXFSZ would end this program. */
    CHECK_EQUAL(memory_file_create("test", 1 << 20, false, &fd), 0);
    memory_file_close(fd);
    CHECK_EQUAL(getrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_EQUAL(limit.rlim_cur, 4096);
    CHECK_EQUAL(limit.rlim_max, before.rlim_max);
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &before), 0);
}

static void two_mappings_share_bytes_and_outlive_the_descriptor(void)
{
    struct memory_request request = {.size_bytes = 8192, .access = MEMORY_READ_WRITE};
    void *writable = NULL, *readable = NULL;

    CHECK_EQUAL(memory_file_create("test", 8192, false, &request.fd), 0);
    CHECK_EQUAL(memory_map_request(&request, &writable), 0);
    request.access = MEMORY_READ;
    CHECK_EQUAL(memory_map_request(&request, &readable), 0);
    memory_file_close(request.fd);
    CHECK(writable != readable);
    strcpy((char *)writable + 5000, "shared");
    CHECK_TEXT((char *)readable + 5000, "shared");
    memory_unmap(writable, 8192);
    memory_unmap(readable, 8192);
}

static void an_executable_file_can_be_mapped_executable(void)
{
    struct memory_request request = {.size_bytes = 4096, .access = MEMORY_READ_EXECUTE};
    void *start = NULL;

    CHECK_EQUAL(memory_file_create("test", 4096, true, &request.fd), 0);
    CHECK_EQUAL(memory_map_request(&request, &start), 0);
    memory_unmap(start, 4096);
    memory_file_close(request.fd);
}

static void a_size_that_cannot_be_is_refused_without_a_descriptor(void)
{
    int next, fd = -7;

    CHECK(memory_file_create("test", SIZE_MAX, false, &fd) < 0);
    CHECK_EQUAL(fd, -7);
    next = dup(0);
    close(next);
    CHECK(memory_file_create("test", SIZE_MAX, false, &fd) < 0);
    CHECK_EQUAL(dup(0), next);
    close(next);
}

static void a_sealed_file_does_not_get_shorter(void)
{
    int fd;

    CHECK_EQUAL(memory_file_create("test", 8192, false, &fd), 0);
    CHECK(!memory_file_is_sealed(fd));
    CHECK_EQUAL(memory_file_seal_size(fd), 0);
    CHECK(memory_file_is_sealed(fd));
    CHECK_EQUAL(ftruncate(fd, 4096), -1);
    CHECK_EQUAL(memory_file_bytes(fd), 8192);
    CHECK_EQUAL(ftruncate(fd, 12288), 0);
    CHECK_EQUAL(memory_file_bytes(fd), 12288);
    memory_file_close(fd);
    CHECK(!memory_file_is_sealed(fd));
    CHECK_EQUAL(memory_file_bytes(fd), -EBADF);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_file_has_its_size_and_closes_on_exec),
    CHECK_CASE(limits_for_files_do_not_count),
    CHECK_CASE(two_mappings_share_bytes_and_outlive_the_descriptor),
    CHECK_CASE(an_executable_file_can_be_mapped_executable),
    CHECK_CASE(a_size_that_cannot_be_is_refused_without_a_descriptor),
    CHECK_CASE(a_sealed_file_does_not_get_shorter),
};

CHECK_MAIN(cases)
