/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "kernel/mapped_files.h"

#include "support/check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 4194304u /* more than any process has */

static struct mapped_files files;

static void map(uint32_t pid, uint64_t start, const char *path)
{
    mapped_files_map(&files,
                     &(struct perf_mapping){.pid = pid, .time = 5, .start = start, .size_bytes = 0x1000, .path = path});
}

static size_t count(uint32_t pid)
{
    const struct mapped_process *process = mapped_files_look(&files, pid);

    return process == NULL ? SIZE_MAX : process->modules.count;
}

static void a_program_has_what_it_maps(void)
{
    CHECK_EQUAL(mapped_files_init(&files), 0);
    mapped_files_execute(&files, NOBODY);
    CHECK_EQUAL(count(NOBODY), 0);
    map(NOBODY, 0x1000, "/bin/true");
    map(NOBODY, 0x1000, "/bin/true");
    map(NOBODY, 0x9000, "//anon");
    map(NOBODY, 0x9000, "/memfd:jit (deleted)");
    map(NOBODY, 0x9000, "[heap]");
    map(NOBODY, 0x5000, "[vdso]");
    CHECK_EQUAL(count(NOBODY), 2);
    mapped_files_execute(&files, NOBODY);
    CHECK_EQUAL(count(NOBODY), 0);
    mapped_files_deinit(&files);
}

static void a_child_has_what_its_parent_has(void)
{
    CHECK_EQUAL(mapped_files_init(&files), 0);
    mapped_files_execute(&files, NOBODY);
    map(NOBODY, 0x1000, "/bin/true");
    mapped_files_fork(&files, NOBODY + 1, NOBODY, 9);
    map(NOBODY, 0x3000, "/lib/other");
    CHECK_EQUAL(count(NOBODY), 2);
    CHECK_EQUAL(count(NOBODY + 1), 1);
    /* A thread is no child; a number that comes again is somebody else. */
    mapped_files_fork(&files, NOBODY, NOBODY, 9);
    CHECK_EQUAL(count(NOBODY), 2);
    mapped_files_fork(&files, NOBODY + 1, NOBODY, 9);
    CHECK_EQUAL(count(NOBODY + 1), 2);
    mapped_files_deinit(&files);
}

/* This test is one: it has itself and the C library, at least. */
static void those_that_were_there_are_looked_up(void)
{
    const struct mapped_process *process;
    bool has_code = false;

    CHECK_EQUAL(mapped_files_init(&files), 0);
    process = mapped_files_look(&files, (uint32_t)getpid());
    CHECK(process != NULL && process->modules.count >= 2);
    for (size_t i = 0; process != NULL && i < process->modules.count; i++)
        has_code |= process->modules.modules[i].start <= (uintptr_t)those_that_were_there_are_looked_up &&
                    (uintptr_t)those_that_were_there_are_looked_up < process->modules.modules[i].end;
    CHECK(has_code);
    CHECK_EQUAL(count(NOBODY), 0);
    /* A child that is gone was like its parent. */
    mapped_files_fork(&files, NOBODY + 1, (uint32_t)getpid(), 9);
    CHECK_EQUAL(count(NOBODY + 1), process->modules.count);
    mapped_files_deinit(&files);
}

static void memory_is_bounded(void)
{
    CHECK_EQUAL(mapped_files_init(&files), 0);
    for (uint32_t i = 0; i < MAPPED_PROCESSES_MAX; i++)
        mapped_files_execute(&files, NOBODY + i);
    CHECK_EQUAL(files.count, MAPPED_PROCESSES_MAX);
    CHECK(mapped_files_look(&files, NOBODY - 1) == NULL);
    /* Those that ended go when others need the room. */
    mapped_files_exit(&files, NOBODY + 7);
    map(NOBODY - 1, 0x1000, "/bin/true");
    CHECK_EQUAL(count(NOBODY - 1), 1);
    CHECK(mapped_files_find(&files, NOBODY + 7) == NULL);
    CHECK_EQUAL(mapped_files_find(&files, NOBODY + 8)->pid, NOBODY + 8);
    for (uint64_t i = 0; i < MAPPED_FILES_MAX + 10; i++)
        map(NOBODY + 8, 0x1000 * (i + 1), "/bin/true");
    CHECK_EQUAL(count(NOBODY + 8), MAPPED_FILES_MAX);
    mapped_files_deinit(&files);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_program_has_what_it_maps),
    CHECK_CASE(a_child_has_what_its_parent_has),
    CHECK_CASE(those_that_were_there_are_looked_up),
    CHECK_CASE(memory_is_bounded),
};

CHECK_MAIN(cases)
