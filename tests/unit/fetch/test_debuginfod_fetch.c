/* SPDX-License-Identifier: MIT */
/* The program as it is, in a file, asked by a shell. */
#define _GNU_SOURCE
#include "fetch/fetch_program.h"
#include "support/check.h"
#include "support/served_file.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct served_file served;
static char line[4096];

/* Its status; what it wrote is in the line. */
static int ask(const char *words)
{
    char command[256];
    FILE *stream;
    int status;

    snprintf(command, sizeof(command), "%s/program %s 2>&1", served.folder, words);
    stream = popen(command, "re");
    CHECK(stream != NULL);
    line[fread(line, 1, sizeof(line) - 1, stream)] = '\0';
    status = pclose(stream);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void put_program(void)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "%s/program", served.folder);
    file = fopen(path, "we");
    CHECK(file != NULL);
    CHECK_EQUAL(fwrite(fetch_image, 1, (size_t)(fetch_image_end - fetch_image), file), fetch_image_end - fetch_image);
    fclose(file);
    CHECK_EQUAL(chmod(path, 0700), 0);
}

static void the_path_of_what_came_is_a_line(void)
{
    static const char *const questions[] = {"debuginfo " SERVED_FILE_ID, "executable " SERVED_FILE_ID};

    for (size_t i = 0; i < 2; i++) {
        char *end;

        CHECK_EQUAL(ask(questions[i]), 0);
        end = strchr(line, '\n');
        CHECK(end != NULL && end[1] == '\0');
        if (end != NULL)
            *end = '\0';
        CHECK(served_file_is_at(line));
    }
}

static void what_nobody_has_is_told_by_the_status(void)
{
    CHECK_EQUAL(ask("debuginfo 00112233"), 1);
    CHECK_TEXT(line, "");
    setenv("DEBUGINFOD_URLS", "file:///nowhere", 1);
    CHECK_EQUAL(ask("debuginfo 44556677"), 1);
    CHECK_TEXT(line, "");
}

static void other_questions_are_refused(void)
{
    CHECK_EQUAL(ask(""), 2);
    CHECK(strstr(line, "usage:") != NULL);
    CHECK_EQUAL(ask("source " SERVED_FILE_ID), 2);
    CHECK(strstr(line, "usage:") != NULL);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(the_path_of_what_came_is_a_line),
        CHECK_CASE(what_nobody_has_is_told_by_the_status),
        CHECK_CASE(other_questions_are_refused),
    };
    int status;

    if (!served_file_has_client())
        check_skip("the client library of debuginfod is not installed");
    served_file_init(&served);
    put_program();
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    served_file_deinit(&served);
    return status;
}
