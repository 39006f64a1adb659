/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "gait/process.h"

#include "support/check.h"

#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u

static struct gait_error error;
static struct gait_range last;
static char last_path[PATH_MAX];
static unsigned count, wanted = UINT_MAX;

static bool take_range(void *context, const struct gait_range *range)
{
    CHECK(context == &last);
    CHECK_EQUAL(range->size_bytes, sizeof(*range));
    last = *range;
    snprintf(last_path, sizeof(last_path), "%s", range->path);
    return ++count < wanted;
}

static int ranges(uint64_t start, uint64_t end)
{
    count = 0;
    return gait_process_ranges(start, end, take_range, &last, &error);
}

static void ranges_tell_what_is_mapped(void)
{
    uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char path[PATH_MAX] = "";

    CHECK_EQUAL(mprotect(pages + PAGE, PAGE, PROT_READ), 0);
    CHECK_EQUAL(ranges((uintptr_t)pages + PAGE, (uintptr_t)pages + PAGE + 1), 0);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(last.start, (uintptr_t)pages + PAGE);
    CHECK_EQUAL(last.end, (uintptr_t)pages + 2 * PAGE);
    CHECK_EQUAL(last.access, GAIT_ACCESS_READ);
    CHECK(last.is_shared);
    CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
    CHECK_EQUAL(ranges((uintptr_t)ranges_tell_what_is_mapped, (uintptr_t)ranges_tell_what_is_mapped + 1), 0);
    CHECK_TEXT(last_path, path);
    CHECK_EQUAL(last.access, GAIT_ACCESS_READ | GAIT_ACCESS_EXECUTE);
    CHECK(!last.is_shared);
    wanted = 2;
    CHECK_EQUAL(ranges(0, UINT64_MAX), 0);
    CHECK_EQUAL(count, 2);
    wanted = UINT_MAX;
    CHECK_EQUAL(gait_process_ranges(0, 1, NULL, NULL, &error), -EINVAL);
    munmap(pages, 3 * PAGE);
}

static void memory_that_is_not_there_is_an_error(void)
{
    uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t end = (uintptr_t)pages + PAGE;
    uint64_t word = 0;
    char text[32];

    munmap(pages + PAGE, PAGE);
    strcpy((char *)pages + PAGE - 6, "hello");
    CHECK_EQUAL(gait_memory_read(end - 8, &word, 8), 0);
    CHECK_EQUAL(gait_memory_read(end - 7, &word, 8), -EFAULT);
    CHECK_EQUAL(gait_memory_write(end - 8, "ab", 2), 0);
    CHECK_EQUAL(pages[PAGE - 8], 'a');
    CHECK_EQUAL(gait_memory_write(end - 1, "\0b", 2), -EFAULT);
    CHECK_EQUAL(gait_memory_read_text(end - 6, text, sizeof(text)), 5);
    CHECK_TEXT(text, "hello");
    CHECK_EQUAL(gait_memory_read_text(end - 6, text, 4), 3);
    CHECK_TEXT(text, "hel");
    CHECK_EQUAL(gait_memory_read_text(end - 6, text, 1), 0);
    CHECK_TEXT(text, "");
    CHECK_EQUAL(gait_memory_read_text(end - 6, text, 0), -EINVAL);
    pages[PAGE - 1] = 'x';
    CHECK_EQUAL(gait_memory_read_text(end - 6, text, sizeof(text)), -EFAULT);
    CHECK_EQUAL(gait_memory_read_text(0, text, sizeof(text)), -EFAULT);
    munmap(pages, PAGE);
}

static uint64_t found[4];

static bool take_address(void *context, uint64_t address)
{
    CHECK(context == found);
    if (count < 4)
        found[count] = address;
    count++;
    return true;
}

static void patterns_are_found(void)
{
    uint8_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t start = (uintptr_t)page;

    memcpy(page + 100, "\x13\x37\x99\x42", 4);
    memcpy(page + 200, "\x13\x37\x77\x42", 4);
    count = 0;
    CHECK_EQUAL(gait_memory_scan(start, start + PAGE, "13 37 ?? 42", take_address, found, &error), 0);
    CHECK_EQUAL(count, 2);
    CHECK_EQUAL(found[0], start + 100);
    CHECK_EQUAL(found[1], start + 200);
    munmap(page, PAGE);
}

static void what_makes_no_sense_is_explained(void)
{
    static char long_pattern[1025];

    CHECK_EQUAL(gait_memory_scan(0, PAGE, "13 3", take_address, found, &error), -EINVAL);
    CHECK(strstr(error.text, "13 3") != NULL && strstr(error.text, "hexadecimal") != NULL);
    CHECK_EQUAL(gait_memory_scan(0, PAGE, "??", take_address, found, &error), -EINVAL);
    CHECK(strstr(error.text, "everywhere") != NULL);
    memset(long_pattern, '1', sizeof(long_pattern) - 1);
    CHECK_EQUAL(gait_memory_scan(0, PAGE, long_pattern, take_address, found, &error), -EINVAL);
    CHECK_EQUAL(gait_memory_scan(PAGE, PAGE, "13", take_address, found, &error), -EINVAL);
    CHECK_EQUAL(gait_memory_scan(0, PAGE, NULL, take_address, found, &error), -EINVAL);
    CHECK_EQUAL(gait_memory_scan(0, PAGE, "13", NULL, found, NULL), -EINVAL);
}

static const struct check_case cases[] = {
    CHECK_CASE(ranges_tell_what_is_mapped),
    CHECK_CASE(memory_that_is_not_there_is_an_error),
    CHECK_CASE(patterns_are_found),
    CHECK_CASE(what_makes_no_sense_is_explained),
};

CHECK_MAIN(cases)
