/* SPDX-License-Identifier: MIT */
/* The kernel tells what can be read and written, at each page of a range. */
#include "stalker/program_memory.h"

#include "support/check.h"

#include <sys/mman.h>

#define PAGE 4096

static void each_page_counts(void)
{
    uint8_t *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t start = (uintptr_t)pages;

    CHECK(program_memory_is_readable(start, 4 * PAGE));
    CHECK(program_memory_make_writable(start, 4 * PAGE));
    mprotect(pages + 2 * PAGE, PAGE, PROT_READ);
    CHECK(program_memory_is_readable(start, 4 * PAGE));
    CHECK(!program_memory_make_writable(start, 4 * PAGE));
    CHECK(program_memory_make_writable(start, 2 * PAGE));
    CHECK(!program_memory_make_writable(start, 2 * PAGE + 8));
    CHECK(program_memory_make_writable(start + 3 * PAGE, PAGE));
    mprotect(pages + PAGE, PAGE, PROT_NONE);
    CHECK(!program_memory_is_readable(start, 4 * PAGE));
    CHECK(program_memory_is_readable(start + 2 * PAGE, 2 * PAGE));
    CHECK(!program_memory_is_readable(8, 8));
    CHECK(!program_memory_is_readable(0, 8));
    CHECK(!program_memory_make_writable(0, 8));
    munmap(pages, 4 * PAGE);
}

static const struct check_case cases[] = {CHECK_CASE(each_page_counts)};

CHECK_MAIN(cases)
