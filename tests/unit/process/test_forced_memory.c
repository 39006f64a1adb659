/* SPDX-License-Identifier: MIT */
/* Memory that is read without faults and written without permission. */
#define _GNU_SOURCE
#include "process/forced_memory.h"

#include "support/check.h"
#include "support/forbid.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static const volatile char constant[] = "constant";

static void reads_end_where_nothing_is_mapped(void)
{
    struct forced_memory memory;
    uint8_t *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t bytes[64];

    memset(pages, 7, 4096);
    munmap(pages + 4096, 4096);
    CHECK_EQUAL(forced_memory_init(&memory), 0);
    CHECK_EQUAL(forced_memory_read(&memory, (uintptr_t)pages + 4096 - 10, bytes, 64), 10);
    CHECK_EQUAL(bytes[9], 7);
    CHECK_EQUAL(forced_memory_read(&memory, (uintptr_t)pages + 4096, bytes, 64), 0);
    CHECK_EQUAL(forced_memory_read(&memory, 0, bytes, 64), 0);
    CHECK_EQUAL(forced_memory_write(&memory, (uintptr_t)pages + 4096, bytes, 1), -EFAULT);
    forced_memory_deinit(&memory);
    munmap(pages, 4096);
}

static void what_is_read_only_is_written_and_stays_read_only(void)
{
    struct forced_memory memory;
    uint8_t *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int descriptors = dup(0);

    close(descriptors);
    CHECK_EQUAL(forced_memory_init(&memory), 0);
    CHECK_EQUAL(forced_memory_write(&memory, (uintptr_t)page + 5, "abc", 3), 0);
    CHECK(memcmp(page + 5, "abc", 3) == 0);
    CHECK_EQUAL(forced_memory_write(&memory, (uintptr_t)constant, "C", 1), 0);
    CHECK_EQUAL(constant[0], 'C');
    CHECK_EQUAL(read(-1, page, 1), -1);
    forced_memory_deinit(&memory);
    CHECK_EQUAL(dup(0), descriptors);
    close(descriptors);
    munmap(page, 4096);
}

static void write_while_protected(void)
{
    struct forced_memory memory;

    if (getuid() == 0 && setuid(65534) != 0)
        _exit(0);
    prctl(PR_SET_DUMPABLE, 0);
    if (forced_memory_init(&memory) != 0 || forced_memory_write(&memory, (uintptr_t)constant, "P", 1) != 0)
        _exit(1);
    if (constant[0] != 'P' || prctl(PR_GET_DUMPABLE) != 0)
        _exit(2);
}

static void a_process_that_is_not_dumpable_stays_so(void)
{
    CHECK_EQUAL(forbid_in_child(write_while_protected), 0);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(reads_end_where_nothing_is_mapped),
        CHECK_CASE(what_is_read_only_is_written_and_stays_read_only),
        CHECK_CASE(a_process_that_is_not_dumpable_stays_so),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
