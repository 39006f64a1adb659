/* SPDX-License-Identifier: MIT */
#include "trace/crc32c.h"

#include "support/check.h"
#include "support/trace_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct trace_folder folder;

static void expect(const void *bytes, size_t size_bytes, uint32_t expected)
{
    uint64_t size;
    uint32_t crc;
    int fd;

    trace_folder_write(&folder, "file", bytes, size_bytes);
    fd = openat(folder.fd, "file", O_RDONLY | O_CLOEXEC);
    CHECK_EQUAL(file_sum_read(fd, &size, &crc), 0);
    CHECK_EQUAL(size, size_bytes);
    CHECK_EQUAL(crc, expected);
    close(fd);
}

static void sums_are_those_of_all_bytes(void)
{
    static uint8_t zeroes[1000000];

    trace_folder_init(&folder);
    expect("", 0, 0);
    expect("123456789", 9, 0xe3069283);
    /* More than is read at once. */
    expect(zeroes, sizeof(zeroes), crc32c_by_tables(0, zeroes, sizeof(zeroes)));
    trace_folder_deinit(&folder);
}

static void what_cannot_be_read_is_no_sum(void)
{
    uint64_t size;
    uint32_t crc;
    int fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    CHECK_EQUAL(file_sum_read(fd, &size, &crc), -EISDIR);
    CHECK_EQUAL(file_sum_read(-1, &size, &crc), -EBADF);
    close(fd);
}

static const struct check_case cases[] = {
    CHECK_CASE(sums_are_those_of_all_bytes),
    CHECK_CASE(what_cannot_be_read_is_no_sum),
};

CHECK_MAIN(cases)
