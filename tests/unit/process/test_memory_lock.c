/* SPDX-License-Identifier: MIT */
/*
 * configurations: debug-*
 * The shadows of sanitizers would be locked as well.
 */
#define _GNU_SOURCE
#include "process/memory_lock.h"

#include "base/memory_file.h"
#include "base/memory_map.h"
#include "support/check.h"
#include "support/locking_limit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1024ull * 1024)
#define GIB (1024 * MIB)

static void limit(unsigned long bytes)
{
    struct rlimit most = {bytes, bytes};

    CHECK_EQUAL(locking_limit_obey(), 0);
    if (setrlimit(RLIMIT_MEMLOCK, &most) != 0)
        check_skip("more memory would have to be locked than the system allows");
}

/* In a process of its own, which has fewer rights afterwards. */
static void in_child(unsigned long bytes, void (*look)(void))
{
    int status = -1;
    pid_t child;

    if (geteuid() != 0)
        check_skip("only root may lock as much as this needs");
    child = fork();
    if (child == 0) {
        limit(bytes);
        look();
        _exit(check_failures != 0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        exit(77);
    CHECK_EQUAL(status, 0);
}

static void *map_huge(void)
{
    void *huge = NULL;
    int fd;

    CHECK_EQUAL(memory_file_create("test", GIB, false, &fd), 0);
    CHECK_EQUAL(memory_map_file_aligned(fd, GIB, memory_page_size(), &huge), 0);
    memory_file_close(fd);
    return huge;
}

static void lock_with_ours(void)
{
    void *huge = map_huge();
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char present = 0;

    CHECK_EQUAL(memory_lock_all(MCL_CURRENT), 0);
    CHECK(locked_kib() >= 1024 && locked_kib() < GIB / 1024);
    CHECK_EQUAL(mincore(page, 4096, &present), 0);
    CHECK_EQUAL(present & 1, 1);
    CHECK_EQUAL(mincore(huge, 4096, &present), 0);
    CHECK_EQUAL(present & 1, 0);
    munlockall();
    CHECK_EQUAL(locked_kib(), 0);
    memory_unmap(huge, GIB);
}

static void the_programs_memory_is_locked_and_ours_is_not(void)
{
    in_child(8 * MIB, lock_with_ours);
}

static void lock_too_much(void)
{
    char *much = mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(much != MAP_FAILED);
    CHECK_EQUAL(memory_lock_all(MCL_CURRENT), -ENOMEM);
    CHECK_EQUAL(locked_kib(), 0);
}

static void nothing_is_locked_if_it_is_more_than_allowed(void)
{
    in_child(4 * MIB, lock_too_much);
}

static void lock_what_comes(void)
{
    unsigned long before;
    char *page;

    CHECK_EQUAL(memory_lock_all(MCL_CURRENT | MCL_FUTURE), 0);
    before = locked_kib();
    page = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    CHECK_EQUAL(locked_kib(), before + 1024);
    munlockall();
}

static void what_is_mapped_later_is_locked_if_that_is_wanted(void)
{
    in_child(8 * MIB, lock_what_comes);
}

/* Somebody comes to a process that locks all that it maps. */
static void huge_memory_that_comes_later_is_not_provided(void)
{
    unsigned char present = 0;
    void *huge;

    CHECK_EQUAL(mlockall(MCL_FUTURE), 0);
    huge = map_huge();
    munlockall();
    CHECK_EQUAL(mincore((char *)huge + GIB / 2, 4096, &present), 0);
    CHECK_EQUAL(present & 1, 0);
    memory_unmap(huge, GIB);
}

static void wrong_flags_are_refused(void)
{
    CHECK_EQUAL(memory_lock_all(0), -EINVAL);
    CHECK_EQUAL(memory_lock_all(MCL_ONFAULT), -EINVAL);
    CHECK_EQUAL(memory_lock_all(MCL_CURRENT | 64), -EINVAL);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_programs_memory_is_locked_and_ours_is_not),
    CHECK_CASE(nothing_is_locked_if_it_is_more_than_allowed),
    CHECK_CASE(what_is_mapped_later_is_locked_if_that_is_wanted),
    CHECK_CASE(huge_memory_that_comes_later_is_not_provided),
    CHECK_CASE(wrong_flags_are_refused),
};

CHECK_MAIN(cases)
