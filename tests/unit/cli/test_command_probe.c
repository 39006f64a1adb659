/* SPDX-License-Identifier: MIT */
/* What needs no privilege; tests/system/test_kernel_probes.sh does the rest. */
#include "cli/command.h"

#include "support/check.h"
#include "support/command_run.h"

extern const struct command command_probe;

static void counters_are_listed(void)
{
    struct command_run run = COMMAND_RUN(&command_probe, 100, "-l", "software:*faults");

    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK(strstr(run.output, "software:page-faults(x64 ip, x64 address)\n") != NULL);
    command_run_deinit(&run);
}

static void refuse(struct command_run run, enum command_status status, const char *part)
{
    CHECK_EQUAL(run.status, status);
    if (strstr(run.err.text, part) == NULL)
        CHECK_TEXT(run.err.text, part);
    command_run_deinit(&run);
}

static void mistakes_are_explained(void)
{
    refuse(COMMAND_RUN(&command_probe, 100, "software:page-fault"), COMMAND_MISUSED, "did you mean");
    refuse(COMMAND_RUN(&command_probe, 100, "nonsense"), COMMAND_MISUSED, "is no kind of probe");
    refuse(COMMAND_RUN(&command_probe, 100, "--count"), COMMAND_MISUSED, "which probe");
    refuse(COMMAND_RUN(&command_probe, 100, "-l", "software:nothing*"), COMMAND_FAILED, "nothing like that");
    refuse(COMMAND_RUN(&command_probe, 100, "uprobe:/nowhere:main"), COMMAND_MISUSED, "No such file");
}

static const struct check_case cases[] = {
    CHECK_CASE(counters_are_listed),
    CHECK_CASE(mistakes_are_explained),
};

CHECK_MAIN(cases)
