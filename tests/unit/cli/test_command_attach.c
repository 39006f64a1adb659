/* SPDX-License-Identifier: MIT */
/* Wrong calls; right ones, with what is recorded, are in tests/system/test_record.sh. */
#include "cli/command.h"

#include "support/check.h"
#include "support/command_run.h"

extern const struct command command_attach;

static void check_misused(const char *argument)
{
    struct command_run run = COMMAND_RUN(&command_attach, 80, argument);

    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    CHECK(strstr(run.err.text, "which process?") != NULL);
    command_run_deinit(&run);
}

static void a_process_is_needed(void)
{
    check_misused("--times");
    check_misused("0");
    check_misused("12x");
    check_misused("99999999999999999999");
    check_misused("");
}

static const struct check_case cases[] = {
    CHECK_CASE(a_process_is_needed),
};

CHECK_MAIN(cases)
