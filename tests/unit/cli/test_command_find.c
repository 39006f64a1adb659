/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "arch/arch.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/handmade_functions.h"

#include <unistd.h>

extern const struct command command_find;

static char path[] = "/tmp/gait-test-XXXXXX";

static void write_file(void)
{
    struct handmade_functions made;
    int fd = mkstemp(path);

    handmade_functions_make(&made);
    CHECK_EQUAL(write(fd, &made, sizeof(made)), sizeof(made));
    close(fd);
}

static void functions_are_listed(void)
{
    struct command_run run = COMMAND_RUN(&command_find, 80, path);
    char expected[1024];
    const char *file = strrchr(path, '/') + 1;

    CHECK_EQUAL(run.status, COMMAND_DONE);
    snprintf(expected, sizeof(expected),
             "            1000       16  first  %s\n"
             "            1020       16  sized  %s\n"
             "            1040        8  resolver  %s\n"
             "            1050        8  assembly  %s\n"
             "            1070       16  %s+0x1070  %s\n"
             "            10f0       16  long  %s\n",
             file, file, file, file, file, file, file);
    CHECK_TEXT(run.output, expected);
    command_run_deinit(&run);
}

static void patterns_choose(void)
{
    struct command_run run = COMMAND_RUN(&command_find, 80, "*fir*", path);
    char expected[256];

    CHECK_EQUAL(run.status, COMMAND_DONE);
    snprintf(expected, sizeof(expected), "            1000       16  first  %s\n", strrchr(path, '/') + 1);
    CHECK_TEXT(run.output, expected);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_find, 80, "--hookable", "--summary", "*s*", path);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK(strstr(run.output, ": 4 functions: jump 0 ") != NULL);
    command_run_deinit(&run);
}

static void processes_are_looked_into(void)
{
    struct command_run run;
    char pid[24];

    /* This program can be read only where its CPU is known. */
    if (arch_host() == NULL)
        return;
    snprintf(pid, sizeof(pid), "%d", getpid());
    run = COMMAND_RUN(&command_find, 80, "qsort", pid);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    /* libc's, at the address that it has here; another one may be in a sanitizer's library. */
    snprintf(pid, sizeof(pid), "%lx ", (unsigned long)(uintptr_t)qsort);
    CHECK(strstr(run.output, pid) != NULL || strstr(run.output, "libc.so.6") != NULL);
    CHECK(strstr(run.output, "qsort") != NULL);
    command_run_deinit(&run);
}

static void check_refused(enum command_status status, const char *text, const char *const *words)
{
    struct command_run run = command_run(&command_find, 80, words);

    CHECK_EQUAL(run.status, status);
    if (strstr(run.err.text, text) == NULL)
        printf("\"%s\" is not in \"%s\"\n", text, run.err.text);
    CHECK(strstr(run.err.text, text) != NULL);
    command_run_deinit(&run);
}

#define REFUSED(status, text, ...) check_refused(status, text, (const char *const[]){__VA_ARGS__, NULL})

static void what_is_wrong_is_explained(void)
{
    REFUSED(COMMAND_MISUSED, "is missing", "--hookable");
    REFUSED(COMMAND_MISUSED, "try '--hookable'", "--hookabel", path);
    REFUSED(COMMAND_FAILED, "there is no such file", "/nowhere/at/all");
    REFUSED(COMMAND_FAILED, "not a 64-bit ELF program", "/proc/self/cmdline");
    REFUSED(COMMAND_FAILED, "there is none with that number", "4294967295");
    REFUSED(COMMAND_FAILED, "try first", "frist", path);
    REFUSED(COMMAND_FAILED, "try a pattern", "nothing_like_that_at_all", path);
    REFUSED(COMMAND_FAILED, "no such file", "*", path, "/nowhere");
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(functions_are_listed),
        CHECK_CASE(patterns_choose),
        CHECK_CASE(processes_are_looked_into),
        CHECK_CASE(what_is_wrong_is_explained),
    };
    int status;

    write_file();
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    unlink(path);
    return status;
}
