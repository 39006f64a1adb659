/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "export/export_format.h"

#include "support/check.h"
#include "support/coverage_lab.h"

#include <errno.h>

static struct coverage_lab lab;
static struct gait_error err;
static char *output;
static char *source; /* the record of coverage_lab.c, in the output */

static int write_job(struct export_job *job)
{
    size_t output_bytes;
    int result;

    job->stream = open_memstream(&output, &output_bytes);
    result = export_formats_find("lcov")->write(job, &err);
    fclose(job->stream);
    return result;
}

static void write_lab(enum coverage_lab_events events)
{
    const size_t threads[] = {0};
    struct export_job job = {.trace = &lab.trace, .threads = threads, .thread_count = 1, .to_ns = UINT64_MAX};
    int result;

    coverage_lab_init(&lab, events);
    result = write_job(&job);
    if (result == -ENOENT && strstr(err.text, "no debug information") != NULL)
        check_skip("this build cannot read line tables");
    CHECK_EQUAL(result, 0);
    source = strstr(output, "/coverage_lab.c\n");
    CHECK(source != NULL);
    if (source == NULL)
        exit(1);
    strstr(source, "end_of_record\n")[0] = '\0';
}

static void end(void)
{
    free(output);
    coverage_lab_deinit(&lab);
}

static unsigned count_of(const char *part)
{
    unsigned count = 0;

    for (const char *at = source; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

static void lines_and_functions_are_told(void)
{
    char line[64];

    write_lab(COVERAGE_LAB_BLOCKS);
    CHECK_EQUAL(count_of("\nFNDA:3,coverage_lab_ran\n"), 1);
    CHECK_EQUAL(count_of("\nFNDA:0,coverage_lab_missed\n"), 1);
    CHECK_EQUAL(count_of("\nFNH:1\n"), 1);
    CHECK_EQUAL(count_of("\nFN:"), count_of("\nFNDA:"));
    snprintf(line, sizeof(line), "\nDA:%d,3\n", coverage_lab_line);
    CHECK(count_of(line) == 1 || count_of(",5\n") != 0);
    CHECK(count_of("\nDA:") > 30);
    CHECK_EQUAL(count_of("\nLF:"), 1);
    end();
}

static void without_blocks_the_lines_in_which_functions_begin_are_told(void)
{
    write_lab(COVERAGE_LAB_CALLS);
    CHECK_EQUAL(count_of("\nFNDA:2,coverage_lab_called\n"), 1);
    CHECK_EQUAL(count_of("\nFNH:2\n"), 1);
    CHECK_EQUAL(count_of("\nLH:2\n"), 1);
    /* Some that compilers make begin in the same line. */
    CHECK(count_of("\nDA:") >= 5 && count_of("\nDA:") <= count_of("\nFN:"));
    end();
}

static void of_hooks_only_hooked_functions_are_told(void)
{
    write_lab(COVERAGE_LAB_HOOKS);
    CHECK_EQUAL(count_of("\nFN:"), 3);
    CHECK_EQUAL(count_of("\nFNDA:2,coverage_lab_called\n"), 1);
    CHECK_EQUAL(count_of("\nFNDA:0,coverage_lab_missed\n"), 1);
    end();
}

static void what_is_needed_is_told(void)
{
    struct export_job job = {.trace = &lab.trace, .to_ns = UINT64_MAX};

    coverage_lab_init(&lab, COVERAGE_LAB_BLOCKS);
    CHECK_EQUAL(write_job(&job), -ENOENT);
    CHECK(strstr(err.text, "--follow block") != NULL);
    CHECK_TEXT(output, "");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(lines_and_functions_are_told),
    CHECK_CASE(without_blocks_the_lines_in_which_functions_begin_are_told),
    CHECK_CASE(of_hooks_only_hooked_functions_are_told),
    CHECK_CASE(what_is_needed_is_told),
};

CHECK_MAIN(cases)
