/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/command.h"

#include "support/check.h"
#include "support/command_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern const struct command command_syscalls;

static char path[] = "/tmp/gait-syscalls-XXXXXX";

static char *content(void)
{
    static char text[65536];
    FILE *file = fopen(path, "r");
    size_t got = fread(text, 1, sizeof(text) - 1, file);

    fclose(file);
    text[got] = '\0';
    return text;
}

static void programs_run_and_end_as_they_do(void)
{
    struct command_run run;

    CHECK_EQUAL(mkstemp(path) >= 0, 1);
    run = COMMAND_RUN(&command_syscalls, 100, "-o", path, "-e", "execve,exit_group", "sh", "-c", "exit 7");
    CHECK_EQUAL((int)run.status, 7);
    CHECK_EQUAL(strncmp(content(), "execve(\"", 8), 0);
    CHECK_EQUAL(strstr(content(), "exit_group(7)                           = ?\n+++ exited with 7 +++\n") != NULL, 1);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_syscalls, 100, "-o", path, "-c", "true");
    CHECK_EQUAL((int)run.status, 0);
    CHECK_EQUAL(strncmp(content(), "% time", 6) == 0 && strstr(content(), " total\n") != NULL, 1);
    command_run_deinit(&run);
    unlink(path);
}

static void what_cannot_be_done_is_said(void)
{
    struct command_run run = COMMAND_RUN(&command_syscalls, 100, "no-such-program-here");

    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK_EQUAL(strstr(run.err.text, "there is no such program") != NULL, 1);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_syscalls, 100, "-o", "/no/such/folder/x", "true");
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_syscalls, 100, "-e", "trace=raed", "true");
    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    command_run_deinit(&run);
}

static const struct check_case cases[] = {
    CHECK_CASE(programs_run_and_end_as_they_do),
    CHECK_CASE(what_cannot_be_done_is_said),
};

CHECK_MAIN(cases)
