/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/process_files.h"

#include "support/check.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static struct gait_error err;

static void files_that_are_executed_are_listed_once(void)
{
    struct process_files files;
    char program[4096] = "";
    unsigned programs = 0, libraries = 0;
    Dl_info info;

    CHECK(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
    CHECK(dladdr((void *)(uintptr_t)qsort, &info) != 0);
    CHECK_EQUAL(process_files_read((uint64_t)getpid(), &files, &err), 0);
    for (size_t i = 0; i < files.count; i++) {
        struct stat mapped, opened;

        programs += strcmp(files.files[i].path, program) == 0;
        libraries += strstr(files.files[i].path, "/libc.so.6") != NULL || strstr(files.files[i].path, "/libc-") != NULL;
        CHECK_EQUAL(files.files[i].start % 4096, 0);
        CHECK_EQUAL(stat(files.files[i].path, &mapped), 0);
        CHECK_EQUAL(stat(files.files[i].opened, &opened), 0);
        CHECK_EQUAL(mapped.st_ino, opened.st_ino);
        for (size_t other = 0; other < i; other++)
            CHECK(strcmp(files.files[i].path, files.files[other].path) != 0);
    }
    CHECK_EQUAL(programs, 1);
    CHECK_EQUAL(libraries, 1);
    process_files_deinit(&files);
    CHECK_EQUAL(files.count, 0);
}

static void processes_that_are_not_there_are_told(void)
{
    struct process_files files;

    CHECK_EQUAL(process_files_read(UINT64_MAX, &files, &err), -ESRCH);
    CHECK(strstr(err.text, "there is none with that number") != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(files_that_are_executed_are_listed_once),
    CHECK_CASE(processes_that_are_not_there_are_told),
};

CHECK_MAIN(cases)
