/* SPDX-License-Identifier: MIT */
/* As gait find --probes shows it. This program has probes itself. */
#include "cli/screens/probe_listing.h"

#include "arch/arch.h"
#include "cli/command.h"
#include "gait/probe.h"
#include "support/check.h"
#include "support/command_run.h"

extern const struct command command_find;

#define SELF "/proc/self/exe"

GAIT_PROBE_SEMAPHORE(gait_test, guarded);

static void pass(int number)
{
    GAIT_PROBE(gait_test, listed, number);
    GAIT_PROBE_IF_ENABLED(gait_test, guarded, number);
}

static void expect(struct command_run run, const char *part)
{
    CHECK_EQUAL(run.status, COMMAND_DONE);
    if (strstr(run.output, part) == NULL)
        CHECK_TEXT(run.output, part);
    command_run_deinit(&run);
}

static void probes_are_listed(void)
{
    pass(1);
    expect(COMMAND_RUN(&command_find, 80, "--probes", SELF), "gait_test:listed(-4@");
    expect(COMMAND_RUN(&command_find, 80, "--probes", "guar*", SELF), " with semaphore");
    expect(COMMAND_RUN(&command_find, 80, "--probes", "--summary", "gait_test:*", SELF), "2 probes\n");
    expect(COMMAND_RUN(&command_find, 80, "--probes", "--json", "listed", SELF), "\"name\": \"listed\"");
}

static void how_they_are_armed_is_told(void)
{
    if (arch_host() == NULL)
        return;
    expect(COMMAND_RUN(&command_find, 80, "--probes", "--hookable", "listed", SELF), "  jump  ");
}

static void others_are_suggested(void)
{
    struct command_run run = COMMAND_RUN(&command_find, 80, "--probes", "listd", SELF);

    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK(strstr(run.err.text, "listed") != NULL);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_find, 80, "--probes", "/bin/true");
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK(strstr(run.err.text, "there are none") != NULL);
    command_run_deinit(&run);
}

static const struct check_case cases[] = {
    CHECK_CASE(probes_are_listed),
    CHECK_CASE(how_they_are_armed_is_told),
    CHECK_CASE(others_are_suggested),
};

CHECK_MAIN(cases)
