/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/program_start.h"

#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gait_error err;

static void a_program_waits_for_the_word(void)
{
    char *const program[] = {"sh", "-c", "exit 7", NULL};
    struct program_start start;
    int status;

    CHECK_EQUAL(program_start_begin(&(const struct program_setup){.program = program}, &start, &err), 0);
    CHECK_EQUAL(waitpid(start.pid, &status, WNOHANG), 0);
    program_start_go(&start);
    CHECK_EQUAL(program_start_finish(&start, program[0], &err), 0);
    CHECK_EQUAL(waitpid(start.pid, &status, 0), start.pid);
    CHECK_EQUAL(WEXITSTATUS(status), 7);
}

static void it_can_be_called_off(void)
{
    char *const program[] = {"sh", "-c", "exit 7", NULL};
    struct program_start start;

    CHECK_EQUAL(program_start_begin(&(const struct program_setup){.program = program}, &start, &err), 0);
    program_start_abandon(&start);
    CHECK_EQUAL(waitpid(start.pid, NULL, 0) < 0 && errno == ECHILD, 1);
}

static void what_is_no_program_is_said_so(void)
{
    char *const missing[] = {"no-such-program-here", NULL}, *const path[] = {"/no/such", NULL},
                *const folder[] = {"/tmp", NULL};
    struct program_start start;

    CHECK_EQUAL(program_start_begin(&(const struct program_setup){.program = missing}, &start, &err), -ENOENT);
    CHECK_EQUAL(strstr(err.text, "PATH") != NULL, 1);
    CHECK_EQUAL(program_start_begin(&(const struct program_setup){.program = path}, &start, &err), -ENOENT);
    CHECK_EQUAL(strstr(err.text, "there is no such file") != NULL, 1);
    CHECK_EQUAL(program_start_begin(&(const struct program_setup){.program = folder}, &start, &err) < 0, 1);
}

static void what_cannot_be_executed_comes_back(void)
{
    char path[] = "/tmp/gait-program-XXXXXX";
    int fd = mkstemp(path);
    char *const program[] = {path, NULL};
    struct program_start start;

    CHECK_EQUAL(write(fd, "\177ELFnonsense", 12), 12);
    CHECK_EQUAL(fchmod(fd, 0700), 0);
    close(fd);
    CHECK_EQUAL(program_start_begin(&(const struct program_setup){.program = program}, &start, &err), 0);
    program_start_go(&start);
    CHECK_EQUAL(program_start_finish(&start, program[0], &err), -ENOEXEC);
    CHECK_EQUAL(waitpid(start.pid, NULL, 0), start.pid);
    unlink(path);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_program_waits_for_the_word),
    CHECK_CASE(it_can_be_called_off),
    CHECK_CASE(what_is_no_program_is_said_so),
    CHECK_CASE(what_cannot_be_executed_comes_back),
};

CHECK_MAIN(cases)
