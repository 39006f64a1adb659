/* SPDX-License-Identifier: MIT */
#include "cli/screens/coverage_screen.h"

#include "support/check.h"
#include "support/command_run.h"
#include "support/coverage_lab.h"

extern const struct command command_coverage;

static struct coverage_lab lab;
static struct command_run run;

static void end(void)
{
    CHECK_EQUAL(run.status, COMMAND_DONE);
    command_run_deinit(&run);
    coverage_lab_deinit(&lab);
}

static bool shows(const char *text)
{
    return strstr(run.output, text) != NULL;
}

static void hooked_functions_are_all_that_counts(void)
{
    coverage_lab_init(&lab, COVERAGE_LAB_HOOKS);
    run = COMMAND_RUN(&command_coverage, 100, lab.folder.path, "--functions", "--missed");
    CHECK(strstr(run.output, "functions that ran           module\n      1 of        3  33.3 %  /") == run.output);
    CHECK(shows(": 1 function that ran\n           2  coverage_lab_called\n"));
    CHECK(shows(": 2 functions that did not run\n"));
    CHECK(shows("\n  coverage_lab_missed\n"));
    CHECK(shows("\nOnly functions that were hooked count. What ran of them is not known: gait spawn --follow block"));
    end();
}

static void blocks_tell_more(void)
{
    coverage_lab_init(&lab, COVERAGE_LAB_BLOCKS);
    run = COMMAND_RUN(&command_coverage, 100, lab.folder.path, "--functions", "--filter", "coverage_lab_ran");
    CHECK(strstr(run.output, "functions that ran          bytes of code that ran         blocks  module\n"
                             "      1 of        1 100.0 %     12 of ") == run.output);
    CHECK(shows("%        2  /"));
    CHECK(shows("\n           3     12 of "));
    CHECK(!shows("Only functions"));
    end();
}

static void lines_are_shown_by_source(void)
{
    coverage_lab_init(&lab, COVERAGE_LAB_BLOCKS);
    run = COMMAND_RUN(&command_coverage, 100, lab.folder.path, "--lines", "--missed", "--filter", "coverage_lab_*");
    if (shows("no debug information"))
        check_skip("this build cannot read line tables");
    CHECK(shows("\nlines that ran               source\n"));
    CHECK(shows("/coverage_lab.c\n      did not run: "));
    end();
}

static void what_is_needed_for_lines_is_told(void)
{
    coverage_lab_init(&lab, COVERAGE_LAB_CALLS);
    run = COMMAND_RUN(&command_coverage, 100, lab.folder.path, "--lines");
    CHECK(shows("Which lines ran is not known: there are no blocks in the trace"));
    CHECK(shows("\n1 functions or blocks that ran are in no file.\n"));
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(hooked_functions_are_all_that_counts),
    CHECK_CASE(blocks_tell_more),
    CHECK_CASE(lines_are_shown_by_source),
    CHECK_CASE(what_is_needed_for_lines_is_told),
};

CHECK_MAIN(cases)
