/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

static struct call_text_run run;

static void modes_are_shown_where_files_are_made(void)
{
    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "openat", 3, (uint32_t)AT_FDCWD, AT("x"), O_RDONLY | O_DIRECTORY),
               "openat(AT_FDCWD, \"x\", O_RDONLY|O_DIRECTORY) = 3");
    CHECK_TEXT(CALL(&run, "openat", 3, (uint32_t)AT_FDCWD, AT("x"), O_WRONLY | O_CREAT, 0644),
               "openat(AT_FDCWD, \"x\", O_WRONLY|O_CREAT, 0644) = 3");
}

static void futexes_have_as_many_arguments_as_they_use(void)
{
    struct timespec time = {1, 2};

    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "futex", 0, 0x1000, FUTEX_WAIT_PRIVATE, 2, 0),
               "futex(0x1000, FUTEX_WAIT_PRIVATE, 2, NULL) = 0");
    CHECK_TEXT(CALL(&run, "futex", 1, 0x1000, FUTEX_WAKE, 1), "futex(0x1000, FUTEX_WAKE, 1) = 1");
    CHECK_TEXT(CALL(&run, "futex", 0, 0x1000, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 2, AT(&time), 0, UINT32_MAX),
               "futex(0x1000, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 2, {tv_sec=1, tv_nsec=2}, "
               "FUTEX_BITSET_MATCH_ANY) = 0");
    CHECK_TEXT(CALL(&run, "futex", 0, 0x1000, FUTEX_UNLOCK_PI_PRIVATE), "futex(0x1000, FUTEX_UNLOCK_PI_PRIVATE) = 0");
}

static void maps_and_moves(void)
{
    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "mmap", 0x7000, 0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0),
               "mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7000");
    CHECK_TEXT(CALL(&run, "mremap", 0x7000, 0x1000, 1, 2, MREMAP_MAYMOVE, 5),
               "mremap(0x1000, 1, 2, MREMAP_MAYMOVE) = 0x7000");
    CHECK_TEXT(CALL(&run, "mremap", 0x5000, 0x1000, 1, 2, MREMAP_MAYMOVE | MREMAP_FIXED, 0x5000),
               "mremap(0x1000, 1, 2, MREMAP_MAYMOVE|MREMAP_FIXED, 0x5000) = 0x5000");
}

static void fcntl_by_command(void)
{
    struct flock lock = {F_WRLCK, SEEK_SET, 1, 2, 0};

    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "fcntl", 1, 3, F_GETFD), "fcntl(3, F_GETFD) = 0x1 (flags FD_CLOEXEC)");
    CHECK_TEXT(CALL(&run, "fcntl", 0, 3, F_SETFD, 1), "fcntl(3, F_SETFD, FD_CLOEXEC) = 0");
    CHECK_TEXT(CALL(&run, "fcntl", 2, 3, F_GETFL), "fcntl(3, F_GETFL) = 0x2 (flags O_RDWR)");
    CHECK_TEXT(CALL(&run, "fcntl", 0, 3, F_SETLK, AT(&lock)),
               "fcntl(3, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=1, l_len=2}) = 0");
    CHECK_TEXT(CALL(&run, "fcntl", 9, 3, F_DUPFD_CLOEXEC, 5), "fcntl(3, F_DUPFD_CLOEXEC, 5) = 9");
}

static void prctl_by_operation(void)
{
    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "prctl", 0, PR_SET_NAME, AT("worker")), "prctl(PR_SET_NAME, \"worker\") = 0");
    CHECK_TEXT(CALL(&run, "prctl", 0, PR_SET_PDEATHSIG, 15), "prctl(PR_SET_PDEATHSIG, SIGTERM) = 0");
    CHECK_TEXT(CALL(&run, "prctl", 1, PR_GET_DUMPABLE), "prctl(PR_GET_DUMPABLE) = 1 (SUID_DUMP_USER)");
}

static void what_is_absent_and_what_is_an_answer(void)
{
    struct call_text *text = call_text_run_init(&run);

    run.arguments[1] = F_GETLK;
    CHECK_EQUAL(dependent_text_is_answer(text, SYSTEM_CALL_FCNTL_ARGUMENT), 1);
    CHECK_EQUAL(dependent_text_is_absent(text, SYSTEM_CALL_FCNTL_ARGUMENT, 2), 0);
    run.arguments[1] = F_GETFD;
    CHECK_EQUAL(dependent_text_is_absent(text, SYSTEM_CALL_FCNTL_ARGUMENT, 2), 1);
    CHECK_EQUAL(dependent_text_is_skipped(text, SYSTEM_CALL_POSITION_HIGH), 1);
    CHECK_EQUAL(dependent_text_is_skipped(text, SYSTEM_CALL_INT), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(modes_are_shown_where_files_are_made),
    CHECK_CASE(futexes_have_as_many_arguments_as_they_use),
    CHECK_CASE(maps_and_moves),
    CHECK_CASE(fcntl_by_command),
    CHECK_CASE(prctl_by_operation),
    CHECK_CASE(what_is_absent_and_what_is_an_answer),
};

CHECK_MAIN(cases)
