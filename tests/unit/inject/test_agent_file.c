/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inject/agent_file.h"

#include "inject/spawn.h"
#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

#define MAPPED_BYTES 0x10000

static struct gait_error err;
static struct tracee tracee;
static struct remote_place place;
static long start; /* of room in the program */

static void begin(void)
{
    char *arguments[] = {"/bin/true", NULL};
    long mapping[6] = {0, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0};

    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), 0);
    CHECK_EQUAL(remote_find_system_call(tracee.pid, (struct memory_range){0, 0}, &place), 0);
    CHECK_EQUAL(remote_system_call(&tracee, &place, SYS_mmap, mapping, &start), 0);
    CHECK(start > 0);
}

/* The program has not noticed anything. */
static void end(void)
{
    int status;

    tracee_detach(&tracee);
    CHECK_EQUAL(waitpid(tracee.pid, &status, 0), tracee.pid);
    CHECK_EQUAL(status, 0);
}

static bool has_open(int fd)
{
    struct stat about;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)tracee.pid, fd);
    return stat(path, &about) == 0;
}

static int first_free(void)
{
    int fd = 0;

    while (has_open(fd))
        fd++;
    return fd;
}

/* As if somebody else had started it. */
static void begin_as_others(void)
{
    begin();
    tracee.file_fd = 0;
}

static void check_mapped(int expected)
{
    static uint8_t bytes[MAPPED_BYTES];
    int fd = -1;

    CHECK_EQUAL(agent_file_map(&tracee, &place, (uint64_t)start, MAPPED_BYTES, &fd), 0);
    CHECK_EQUAL(fd, expected);
    CHECK(has_open(fd));
    CHECK_EQUAL(process_memory_read(tracee.pid, (uint64_t)start, bytes, sizeof(bytes)), 0);
    CHECK(memcmp(bytes, agent_image, sizeof(bytes)) == 0);
    end();
}

static void programs_map_the_image_from_our_own_file(void)
{
    begin_as_others();
    check_mapped(first_free());
}

static void programs_that_we_start_have_our_own_file_open(void)
{
    begin();
    CHECK(tracee.file_fd > 0);
    check_mapped(tracee.file_fd - 1);
}

/* Tries it, while the name that we were started by means nothing, or something else. */
static int fails_with(void)
{
    int fd = -1, expected, result;

    begin_as_others();
    expected = first_free();
    result = agent_file_map(&tracee, &place, (uint64_t)start, MAPPED_BYTES, &fd);
    CHECK_EQUAL(fd, -1);
    CHECK_EQUAL(first_free(), expected);
    end();
    return result;
}

static void copy_to(const char *path)
{
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to = open(path, O_WRONLY | O_CREAT | O_EXCL, 0755);
    struct stat about;

    CHECK(from != -1 && to != -1 && fstat(from, &about) == 0);
    for (off_t left = about.st_size; left > 0;) {
        ssize_t sent = sendfile(to, from, NULL, (size_t)left);

        CHECK(sent > 0);
        left -= sent;
    }
    close(from);
    close(to);
}

/* Of a copy of this program, which may lose its file. */
static void without_our_file(void)
{
    char path[PATH_MAX] = "";

    CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
    CHECK_EQUAL(unlink(path), 0);
    CHECK_EQUAL(fails_with(), -ENOENT);
    copy_to(path);
    CHECK_EQUAL(fails_with(), -ESTALE);
    unlink(path);
}

static void another_file_is_not_taken_for_ours(void)
{
    char folder[] = "/tmp/agent-file-XXXXXX", path[sizeof(folder) + 8];
    int status;
    pid_t child;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/copy", folder);
    copy_to(path);
    child = fork();
    if (child == 0) {
        execl(path, path, "without", NULL);
        _exit(99);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(rmdir(folder), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(programs_map_the_image_from_our_own_file),
    CHECK_CASE(programs_that_we_start_have_our_own_file_open),
    CHECK_CASE(another_file_is_not_taken_for_ours),
};

static const struct check_case case_without[] = {CHECK_CASE(without_our_file)};

int main(int argument_count, char *arguments[])
{
    if (argument_count == 2 && strcmp(arguments[1], "without") == 0)
        return check_run(case_without, 1);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}

#else

int main(void)
{
    check_skip("the agent follows threads on x86-64 only");
}

#endif
