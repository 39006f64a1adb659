/* SPDX-License-Identifier: MIT */
/* As gait report shows it. */
#include "cli/screens/report_sections.h"

#include "cli/command.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/trace_folder.h"
#include "trace/manifest.h"
#include "trace/trace_crash.h"

extern const struct command command_report;

static struct trace_folder folder;

static void end_by_signal(int signal)
{
    struct manifest manifest;

    CHECK_EQUAL(manifest_read(folder.fd, &manifest, NULL), 0);
    manifest.processes[0].status = signal;
    CHECK_EQUAL(manifest_write(&manifest, folder.fd, NULL), 0);
    manifest_free(&manifest);
}

static void put_crash(void)
{
    struct crash_signal signal = {
        .record = {sizeof(signal), CRASH_SIGNAL},
        .time = 5000,
        .tid = 101,
        .signal = 11,
        .code = 1,
        .machine = 62,
        .is_known = 1,
        .register_count = 18,
        .registers = {[0] = 0xabc, [16] = 0x401104, [17] = 0x246},
    };
    struct crash_thread waiting = {
        .record = {sizeof(waiting), CRASH_THREAD}, .tid = 100, .state = CRASH_THREAD_IN_CALL, .number = 34};
    struct crash_thread running = {.record = {sizeof(running), CRASH_THREAD}, .tid = 102};
    struct trace_bytes bytes = {.size_bytes = 0};

    trace_bytes_put(&bytes, &signal, sizeof(signal));
    trace_bytes_put(&bytes, &waiting, sizeof(waiting));
    trace_bytes_put(&bytes, &running, sizeof(running));
    trace_folder_put_stream(&folder, &(struct trace_stream_plan){.name = "100/crash.gait",
                                                                 .header = {.kind = TRACE_STREAM_CRASH, .pid = 100},
                                                                 .bytes = &bytes});
}

static void expect(const char *part, bool is_there)
{
    struct command_run run = COMMAND_RUN(&command_report, 100, folder.path);

    CHECK_EQUAL(run.status, COMMAND_DONE);
    if ((strstr(run.output, part) != NULL) != is_there)
        CHECK_TEXT(run.output, part);
    command_run_deinit(&run);
}

static void a_crash_is_shown_with_its_place_and_what_came_before(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    expect("how process", false);
    end_by_signal(9);
    expect("how process 100 ended\nkilled by SIGKILL; its registers and stacks were not recorded\n\nthe last calls and "
           "returns of thread 100\n",
           true);
    put_crash();
    end_by_signal(11);
    expect("how process 100 ended\n"
           "SIGSEGV in thread 101 at example+0x1104, address 0x0\n"
           "    rax 0000000000000abc    rcx 0000000000000000    rdx 0000000000000000    rbx 0000000000000000\n",
           true);
    expect("     pc 0000000000401104  flags 0000000000000246\n"
           "thread 100 was in system call 34(0x0, 0x0, 0x0)\n"
           "thread 102 was running\n",
           true);
    expect("the last calls and returns of thread 101\n      0  call   ", true);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_crash_is_shown_with_its_place_and_what_came_before),
};

CHECK_MAIN(cases)
