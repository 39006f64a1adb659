/* SPDX-License-Identifier: MIT */
#include "export/export_records.h"

#include "cli/command.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/export_lab.h"
#include "support/kernel_trace.h"
#include "trace/json_reader.h"

extern const struct command command_export;

static struct trace_folder folder;
static struct command_run run;

static void export_to(const char *format)
{
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_export, 100, "-f", format, folder.path);
    CHECK_EQUAL(run.status, COMMAND_DONE);
}

static void expect(const char *part)
{
    if (strstr(run.output, part) == NULL)
        CHECK_TEXT(run.output, part);
}

static void formats_have_events_of_the_kernel(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    kernel_trace_put_example(&folder);
    export_to("json");
    expect(
        "{\"pid\":100,\"tid\":100,\"thread\":\"early\",\"kernel\":\"tick\",\"spec\":\"tracepoint:clock:tick\","
        "\"begin_ns\":100,\"cpu\":0,\"fields\":{\"number\": -7, \"text\": \"word\"},\"stack\":[\"ticking+0x234\"]}\n");
    expect("\"kernel\":\"tock\",\"spec\":\"tracepoint:clock:tock\",\"begin_ns\":200,\"cpu\":1,\"fields\":{}}\n");
    export_to("csv");
    expect("\r\n100,100,\"late\",\"tick(number=8 text=\"\"word\"\")\",\"\",\"\",,0,300,0,0,kernel\r\n");
    export_to("chrome");
    expect(
        "\"ts\":0.100,\"s\":\"t\",\"cat\":\"kernel\",\"name\":\"tick\",\"args\":{\"cpu\":0,\"fields\":{\"number\": -7, "
        "\"text\": \"word\"},\"stack\":\"ticking\"}}");
    export_to("perf");
    expect("\nearly 100/100 [000] 0.000000100: 1 tracepoint:clock:tick:\n"
           "\t            1234 ticking+0x234 ([kernel.kallsyms])\n\n");
    expect("\t            9999 [unknown] ([kernel.kallsyms])\n\n");
    export_to("folded");
    expect("tracepoint:clock:tick;early;ticking 1\n");
    expect("tracepoint:clock:tick;late;0x9999 1\n");
    command_run_deinit(&run);
    run = (struct command_run){.output = NULL};
    trace_folder_deinit(&folder);
}

static void profiles_count_as_time(void)
{
    struct json_value *value;
    struct gait_error err = {0};

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    kernel_trace_put_run(&folder);
    export_to("folded");
    expect("profile:hz:100;early;[example];[example];ticking 20000000\n");
    export_to("perf");
    expect("early 100/100 [000] 0.000000150: 10000000 profile:hz:100:\n"
           "\t            1010 ticking+0x10 ([kernel.kallsyms])\n"
           "\t          401104 [unknown] (/nowhere/example)\n");
    export_to("speedscope");
    CHECK_EQUAL(json_read("it", run.output, strlen(run.output), &value, &err), 0);
    json_free(value);
    expect("{\"type\":\"sampled\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":20000000,\"name\":"
           "\"profile:hz:100\",\"samples\":[[");
    expect("]],\"weights\":[20000000]}");
    export_to("flamegraph");
    expect("profile:hz:100");
    command_run_deinit(&run);
    run = (struct command_run){.output = NULL};
    trace_folder_deinit(&folder);
}

static void weights_are_the_time_between_samples(void)
{
    static const struct {
        const char *spec;
        uint64_t weight;
    } known[] = {{"profile:hz:100", 10000000},      {"profile:s:2", 2000000000}, {"profile:ms:3", 3000000},
                 {"profile:us:50", 50000},          {"profile:hz:0", 1},         {"profile:days:3", 1},
                 {"profile:hz:99999999999", 1},     {"software:page-faults", 1}, {"tracepoint:profile:hz", 1},
                 {"profile:s:99999999999999999", 1}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const struct kernel_source source = {.spec = (char *)(uintptr_t)known[i].spec};

        CHECK_EQUAL(export_kernel_weight(&source), known[i].weight);
    }
}

static unsigned told;

static int take(void *context, const struct export_kernel_event *event)
{
    (void)event;
    told++;
    return context != NULL;
}

static unsigned count(const struct export_job *job, int result)
{
    const struct export_kernel_receiver receiver = {take, NULL};

    told = 0;
    CHECK_EQUAL(export_kernel_behind(job, result, &receiver, NULL), result);
    return told;
}

static void what_is_not_wanted_is_left_out(void)
{
    static const char *const late[] = {"late"}, *const by_number[] = {"7", "100"}, *const none[] = {"nobody"};
    struct export_kernel_receiver enough = {take, &told};
    struct view_trace trace;
    struct export_job job = {.trace = &trace, .to_ns = UINT64_MAX};

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    kernel_trace_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(count(&job, 0), 4);
    CHECK_EQUAL(count(&job, -5), 4);
    CHECK_EQUAL(count(&job, 1), 0);
    job.from_ns = 200;
    job.to_ns = 400;
    CHECK_EQUAL(count(&job, 0), 2);
    job = (struct export_job){.trace = &trace, .to_ns = UINT64_MAX, .wanted = late, .wanted_count = 1};
    CHECK_EQUAL(count(&job, 0), 2);
    job.wanted = by_number;
    job.wanted_count = 2;
    CHECK_EQUAL(count(&job, 0), 4);
    job.wanted = none;
    job.wanted_count = 1;
    CHECK_EQUAL(count(&job, 0), 0);
    job.wanted_count = 0;
    told = 0;
    CHECK_EQUAL(export_kernel_read(&job, &enough, NULL), 1);
    CHECK_EQUAL(told, 1);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void threads_that_only_the_kernel_knows_can_be_chosen(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    kernel_trace_put_run(&folder);
    run = COMMAND_RUN(&command_export, 100, "-f", "json", folder.path, "--thread", "oth*");
    CHECK_EQUAL(run.status, COMMAND_DONE);
    expect("\"kernel\":\"sched_waking\"");
    CHECK(strstr(run.output, "\"tid\":100") == NULL);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_export, 100, "-f", "json", folder.path, "--thread", "nobody");
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    command_run_deinit(&run);
    run = (struct command_run){.output = NULL};
    trace_folder_deinit(&folder);
}

static void what_is_cut_off_is_told_up_to_there(void)
{
    uint8_t *bytes;
    size_t size;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    kernel_trace_put_example(&folder);
    bytes = trace_folder_read(&folder, "kernel/1.events.gait", &size);
    trace_folder_write(&folder, "kernel/1.events.gait", bytes, size - 40);
    free(bytes);
    run = COMMAND_RUN(&command_export, 100, "-f", "json", folder.path);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK(strstr(run.err.text, "kernel/1.events.gait") != NULL);
    expect("\"kernel\":\"tick\"");
    command_run_deinit(&run);
    run = (struct command_run){.output = NULL};
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(formats_have_events_of_the_kernel),
    CHECK_CASE(profiles_count_as_time),
    CHECK_CASE(weights_are_the_time_between_samples),
    CHECK_CASE(what_is_not_wanted_is_left_out),
    CHECK_CASE(threads_that_only_the_kernel_knows_can_be_chosen),
    CHECK_CASE(what_is_cut_off_is_told_up_to_there),
};

CHECK_MAIN(cases)
