/* SPDX-License-Identifier: MIT */
#include "report/coverage_json.h"

#include "support/check.h"
#include "support/command_run.h"
#include "support/coverage_lab.h"
#include "trace/json_reader.h"

extern const struct command command_coverage;

static struct coverage_lab lab;

/* What was written is one value. */
static void check_json(const struct command_run *run)
{
    struct json_value *value;
    struct gait_error err = {.code = 0};

    CHECK_EQUAL(run->status, COMMAND_DONE);
    CHECK_EQUAL(json_read("it", run->output, strlen(run->output), &value, &err), 0);
    CHECK_TEXT(err.text, "");
    json_free(value);
}

static void modules_have_totals(void)
{
    struct command_run run;

    coverage_lab_init(&lab, COVERAGE_LAB_HOOKS);
    run = COMMAND_RUN(&command_coverage, 100, lab.folder.path, "--json");
    check_json(&run);
    CHECK(
        strstr(run.output, "{\"has_blocks\":false,\"is_of_hooks\":true,\"elsewhere\":0,\"modules\":[\n{\"path\":\"/") ==
        run.output);
    CHECK(strstr(run.output, "\"problem\":null,\"functions\":3,\"executed_functions\":1,\"unwatched_functions\":") !=
          NULL);
    CHECK(strstr(run.output, "function_list") == NULL);
    CHECK(strstr(run.output, "sources") == NULL);
    command_run_deinit(&run);
    coverage_lab_deinit(&lab);
}

static void functions_and_lines_are_there_if_asked_for(void)
{
    struct command_run run;

    coverage_lab_init(&lab, COVERAGE_LAB_BLOCKS);
    run = COMMAND_RUN(&command_coverage, 100, lab.folder.path, "--json", "--functions", "--lines", "--filter",
                      "coverage_lab_*");
    check_json(&run);
    CHECK(strstr(run.output, "\n{\"name\":\"coverage_lab_ran\",\"count\":3,\"is_executed\":true,\"code_bytes\":") !=
          NULL);
    CHECK(strstr(run.output, "\"executed_bytes\":12}") != NULL);
    CHECK(strstr(run.output, "coverage_lab_missed") == NULL);
    CHECK(strstr(run.output, "\"sources\":[") != NULL);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_coverage, 100, lab.folder.path, "--json", "--missed", "--filter", "coverage_lab_*");
    check_json(&run);
    CHECK(strstr(run.output, "\"name\":\"coverage_lab_missed\",\"count\":0,\"is_executed\":false") != NULL);
    CHECK(strstr(run.output, "\"name\":\"coverage_lab_ran\"") == NULL);
    command_run_deinit(&run);
    coverage_lab_deinit(&lab);
}

static void it_is_json_where_nothing_is_wanted(void)
{
    struct command_run run;

    coverage_lab_init(&lab, COVERAGE_LAB_CALLS);
    run = COMMAND_RUN(&command_coverage, 100, lab.folder.path, "--json", "--filter", "none of them");
    check_json(&run);
    CHECK(strstr(run.output, "\"modules\":[]") != NULL);
    command_run_deinit(&run);
    coverage_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(modules_have_totals),
    CHECK_CASE(functions_and_lines_are_there_if_asked_for),
    CHECK_CASE(it_is_json_where_nothing_is_wanted),
};

CHECK_MAIN(cases)
