/* SPDX-License-Identifier: MIT */
/* As the formats write it. */
#include "export/export_records.h"

#include "cli/command.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/probe_trace.h"

#include <unistd.h>

extern const struct command command_export;

static struct trace_folder folder;

static void expect(const char *format, const char *part)
{
    struct command_run run = COMMAND_RUN(&command_export, 100, "-f", format, folder.path);

    CHECK_EQUAL(run.status, COMMAND_DONE);
    if (strstr(run.output, part) == NULL)
        CHECK_TEXT(run.output, part);
    command_run_deinit(&run);
}

static void formats_have_probes(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    probe_trace_put(&folder, 100, 0x401100);
    expect("json", "\"probe\":\"shop:order\",\"begin_ns\":1000,\"arguments\":\"-7, \\\"tea\\\"\"}");
    expect("csv", "\"shop:idle()\",\"\",\"\",,0,2000,0,0,probe\r\n");
    expect("chrome", "\"name\":\"shop:order\",\"cat\":\"probe\",\"args\":{\"arguments\":\"8, \\\"milk\\\"\"}");
    trace_folder_deinit(&folder);
}

/* As where nothing but --probe was asked for. */
static void threads_without_calls_have_them_too(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    probe_trace_put(&folder, 100, 0x401100);
    CHECK_EQUAL(unlinkat(folder.fd, "100/100.1.index.gait", 0), 0);
    expect("json", "\"probe\":\"shop:order\",\"begin_ns\":1000");
    expect("csv", "shop:idle()");
    expect("chrome", "\"name\":\"shop:order\",\"cat\":\"probe\"");
    trace_folder_deinit(&folder);
}

static void times_are_kept_to(void)
{
    struct command_run run;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    probe_trace_put(&folder, 100, 0x401100);
    run = COMMAND_RUN(&command_export, 100, "-f", "json", folder.path, "--from", "1.5us", "--to", "3us");
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK(strstr(run.output, "shop:idle") != NULL);
    CHECK(strstr(run.output, "shop:order") == NULL);
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(formats_have_probes),
    CHECK_CASE(threads_without_calls_have_them_too),
    CHECK_CASE(times_are_kept_to),
};

CHECK_MAIN(cases)
