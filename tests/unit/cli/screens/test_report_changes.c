/* SPDX-License-Identifier: MIT */
/* As gait report --diff shows it. */
#include "cli/screens/report_sections.h"

#include "cli/command.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/hooked_thread.h"

extern const struct command command_report;

static struct trace_folder before, after;

static void begin(void)
{
    static const struct hooked_event calls[] = {{1, EVENT_RECORD_ENTER, 0, 5000}, {1, EVENT_RECORD_LEAVE, 0, 25000}};

    trace_folder_init(&before);
    hooked_thread_put_example(&before);
    trace_folder_init(&after);
    trace_folder_put_example(&after);
    hooked_thread_put(&after, 102, calls, 2);
}

static void end(void)
{
    trace_folder_deinit(&before);
    trace_folder_deinit(&after);
}

static void expect_in(struct command_run run, const char *part)
{
    CHECK_EQUAL(run.status, COMMAND_DONE);
    if (strstr(run.output, part) == NULL)
        CHECK_TEXT(run.output, part);
    command_run_deinit(&run);
}

static void both_traces_stand_side_by_side(void)
{
    begin();
    expect_in(COMMAND_RUN(&command_report, 100, before.path, "--diff", after.path),
              ": ./example, for 2.500 s, 11 calls, 288 bytes of records lost\n"
              "\n"
              " total                          self                           calls\n"
              "    before     after     change    before     after     change     before      after      change        "
              "function        module\n"
              "  8.000 us  20.50 us  +12.50 us  6.500 us  20.50 us  +14.00 us         13         11          -2        "
              "example+0x1100  example\n"
              "  1.500 us         -  -1.500 us  1.500 us         -  -1.500 us          3          0          -3  gone  "
              "example+0x1200  example\n");
    end();
}

static void what_was_not_there_before_is_new(void)
{
    begin();
    expect_in(COMMAND_RUN(&command_report, 100, after.path, "--diff", before.path, "--sort", "avg"),
              " new   example+0x1200  example\n");
    expect_in(COMMAND_RUN(&command_report, 100, after.path, "--diff", before.path, "--limit", "1"),
              "and 1 more; --limit shows them\n");
    expect_in(COMMAND_RUN(&command_report, 100, after.path, "--diff", before.path, "--by", "module"),
              "change        module\n");
    expect_in(COMMAND_RUN(&command_report, 100, after.path, "--diff", before.path, "--filter", "*1200"),
              " new   example+0x1200  example\n");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(both_traces_stand_side_by_side),
    CHECK_CASE(what_was_not_there_before_is_new),
};

CHECK_MAIN(cases)
