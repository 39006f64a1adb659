/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "cli/doctor.h"
#include "support/check.h"
#include "support/command_run.h"

extern const struct command command_doctor;

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

/* What recording needs is there, or no test of recording could be run. */
static void each_subject_has_a_line(void)
{
    struct command_run run = command_run(&command_doctor, 100, (const char *const[]){NULL});
    const struct doctor_check *check;

    CHECK_EQUAL(run.status, COMMAND_DONE);
    for (size_t i = 0; (check = doctor_check_at(i)) != NULL; i++)
        CHECK(strstr(run.output, check->subject) != NULL);
    CHECK(strstr(run.output, "yes     tracing         spawn works") != NULL ||
          strstr(run.output, "partly  tracing         spawn works") != NULL);
    command_run_deinit(&run);
}

static void programs_get_a_list(void)
{
    struct command_run run = COMMAND_RUN(&command_doctor, 100, "--json");
    size_t count = 0;

    while (doctor_check_at(count) != NULL)
        count++;
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_EQUAL(run.output[0], '[');
    CHECK_EQUAL(count_of(run.output, "{\"subject\": \""), count);
    CHECK_EQUAL(count_of(run.output, "\"works\": \""), count);
    command_run_deinit(&run);
}

static void arguments_are_refused(void)
{
    struct command_run run = COMMAND_RUN(&command_doctor, 100, "me");

    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    command_run_deinit(&run);
}

static const struct check_case cases[] = {
    CHECK_CASE(each_subject_has_a_line),
    CHECK_CASE(programs_get_a_list),
    CHECK_CASE(arguments_are_refused),
};

CHECK_MAIN(cases)
