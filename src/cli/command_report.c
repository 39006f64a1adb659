/* SPDX-License-Identifier: MIT */
/* gait report: what a trace is of, what its threads did, and which functions were called most. */
#define _GNU_SOURCE
#include "cli/command.h"

#include "cli/arguments.h"
#include "cli/printable.h"
#include "cli/report_crash.h"
#include "cli/report_details.h"
#include "cli/report_left.h"
#include "cli/report_times.h"
#include "cli/report_windows.h"
#include "cli/screen.h"
#include "symbolize/function_names.h"
#include "trace/trace_summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define LIMIT_DEFAULT 20
#define TEXT_BYTES    512
#define NAME_COLUMNS  16

struct report {
    const struct command_call *call;
    int limit;
    struct trace_summary summary;
};

/* ---- what was recorded ------------------------------------------------------------------------------------------- */

static void put_field(struct screen *screen, const char *name, const char *text)
{
    char clean[TEXT_BYTES];

    screen_put(screen, SCREEN_STRONG, 11, name);
    screen_print(screen, "%s\n", printable(clean, sizeof(clean), text));
}

/* "from 2026-01-31 12:00:00 UTC on, for 1.234 s" */
static void put_time(const struct report *report)
{
    const struct manifest *manifest = &report->summary.manifest;
    time_t seconds = (time_t)(manifest->began_unix_ns / 1000000000);
    uint64_t began = manifest->clock_count == 0 ? 0 : manifest->clocks[0].monotonic_ns;
    uint64_t ended = manifest->clock_count == 0 ? 0 : manifest->clocks[manifest->clock_count - 1].monotonic_ns;
    char text[TEXT_BYTES], date[64] = "at an unknown time";
    struct tm parts;

    if (gmtime_r(&seconds, &parts) != NULL && strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
        strcpy(date, "at an unknown time");
    if (manifest->clock_count < 2 && report->summary.ended_ns > ended)
        ended = report->summary.ended_ns;
    if (began != 0 && ended > began)
        snprintf(text, sizeof(text), "%s, for %.3f s", date, (double)(ended - began) / 1e9);
    else
        snprintf(text, sizeof(text), "%s", date);
    put_field(report->call->screen, "recorded", text);
}

static void describe_status(int status, char *text, size_t text_bytes)
{
    const char *name;

    text[0] = '\0';
    if (status == -1)
        return;
    if (WIFEXITED(status)) {
        snprintf(text, text_bytes, "exit status %d", WEXITSTATUS(status));
    } else if (WIFSIGNALED(status)) {
        name = sigabbrev_np(WTERMSIG(status));
        snprintf(text, text_bytes, "killed by signal %d (SIG%s)", WTERMSIG(status), name == NULL ? "?" : name);
    }
}

static void put_end(const struct report *report)
{
    const struct manifest *manifest = &report->summary.manifest;
    char text[TEXT_BYTES], status[64] = "";

    if (strcmp(manifest->ended, "running") == 0) {
        put_field(report->call->screen, "ended", "not yet, or the recorder was killed");
        return;
    }
    if (manifest->process_count > 0)
        describe_status(manifest->processes[0].status, status, sizeof(status));
    /* The status says as much, and more. */
    if (status[0] != '\0' && (strcmp(manifest->ended, "exit") == 0 || strcmp(manifest->ended, "signal") == 0))
        snprintf(text, sizeof(text), "%s", status);
    else
        snprintf(text, sizeof(text), "%s%s%s", manifest->ended, status[0] == '\0' ? "" : ", ", status);
    put_field(report->call->screen, "ended", text);
}

static void put_events(const struct report *report)
{
    char text[TEXT_BYTES] = "";

    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        if (report->summary.manifest.events & 1u << bit)
            strcat(strcat(text, text[0] == '\0' ? "" : ", "), event_name(bit));
    if (text[0] == '\0')
        strcat(text, "none");
    strcat(text, report->summary.manifest.with_times ? "; with times" : "; without times");
    put_field(report->call->screen, "events", text);
}

static void put_command(const struct report *report)
{
    char text[TEXT_BYTES] = "";
    size_t used = 0;

    for (size_t i = 0; report->summary.manifest.arguments[i] != NULL && used < sizeof(text); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i == 0 ? "" : " ",
                                 report->summary.manifest.arguments[i]);
    put_field(report->call->screen, "command", text);
}

/* ---- processes and threads --------------------------------------------------------------------------------------- */

static const struct manifest_process *find_process(const struct report *report, const struct trace_file *file)
{
    const struct manifest *manifest = &report->summary.manifest;

    for (size_t i = 0; i < manifest->process_count; i++)
        if (manifest->processes[i].pid == file->pid && manifest->processes[i].image == file->image)
            return &manifest->processes[i];
    return NULL;
}

/* NULL: the manifest does not know it. */
static const struct manifest_thread *find_thread(const struct report *report, const struct trace_file *file)
{
    const struct manifest_process *process = find_process(report, file);

    for (size_t i = 0; process != NULL && i < process->thread_count; i++)
        if (process->threads[i].tid == file->tid && process->threads[i].generation == file->generation)
            return &process->threads[i];
    return NULL;
}

static uint64_t total_waited_ns(const struct report *report)
{
    const struct manifest *manifest = &report->summary.manifest;
    uint64_t waited_ns = 0;

    for (size_t i = 0; i < manifest->process_count; i++)
        for (size_t j = 0; j < manifest->processes[i].thread_count; j++)
            waited_ns += manifest->processes[i].threads[j].waited_ns;
    return waited_ns;
}

/* What was asked for, or came nevertheless. */
static uint32_t shown_events(const struct report *report)
{
    uint32_t events = report->summary.manifest.events;

    for (size_t i = 0; i < report->summary.thread_count; i++)
        for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
            events |= report->summary.threads[i].counts[bit] != 0 ? 1u << bit : 0;
    return events;
}

static void put_processes(const struct report *report)
{
    struct screen *screen = report->call->screen;
    char clean[TEXT_BYTES], status[64];

    screen_print(screen, "\n");
    screen_put(screen, SCREEN_STRONG, 0, "    pid  parent  command");
    screen_print(screen, "\n");
    for (size_t i = 0; i < report->summary.manifest.process_count; i++) {
        const struct manifest_process *process = &report->summary.manifest.processes[i];
        char parent[16] = "-", name[TRACE_PROCESS_NAME_BYTES];

        if (process->parent_pid != 0)
            snprintf(parent, sizeof(parent), "%" PRIu32, process->parent_pid);
        describe_status(process->status, status, sizeof(status));
        trace_process_name(process->pid, process->image, name);
        screen_print(screen, "%7s %7s  %s%s%s%s\n", name, parent, printable(clean, sizeof(clean), process->command),
                     status[0] == '\0' ? "" : "  (", status, status[0] == '\0' ? "" : ")");
    }
}

/* A column of its own, if there is something to tell. */
static void put_counts(const struct report *report, const uint64_t *counts, uint64_t lost_bytes, uint64_t waited_ns)
{
    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        if (shown_events(report) & 1u << bit)
            screen_print(report->call->screen, " %14" PRIu64, counts[bit]);
    screen_print(report->call->screen, " %14" PRIu64, lost_bytes);
    if (total_waited_ns(report) != 0)
        screen_print(report->call->screen, " %12.3f s", (double)waited_ns / 1e9);
    screen_print(report->call->screen, "\n");
}

static void put_thread(const struct report *report, const struct thread_summary *thread)
{
    const struct manifest_thread *listed = find_thread(report, thread->file);
    struct screen *screen = report->call->screen;
    char clean[TEXT_BYTES], tid[32], name[TRACE_PROCESS_NAME_BYTES];

    if (thread->file->generation == 1)
        snprintf(tid, sizeof(tid), "%" PRIu32, thread->file->tid);
    else
        snprintf(tid, sizeof(tid), "%" PRIu32 ".%" PRIu32, thread->file->tid, thread->file->generation);
    trace_process_name(thread->file->pid, thread->file->image, name);
    screen_print(screen, "%7s %9s  %-*s", name, tid, NAME_COLUMNS,
                 printable(clean, sizeof(clean), listed == NULL ? "" : listed->name));
    put_counts(report, thread->counts, thread->lost_bytes, listed == NULL ? 0 : listed->waited_ns);
}

static void put_threads(const struct report *report)
{
    static const char *const headings[EVENT_NAME_COUNT] = {"calls",        "returns", "instructions", "blocks",
                                                           "translations", "enters",  "leaves"};
    struct screen *screen = report->call->screen;
    uint64_t totals[EVENT_NAME_COUNT] = {0}, lost_bytes = 0;
    char line[TEXT_BYTES];
    int used = snprintf(line, sizeof(line), "%7s %9s  %-*s", "pid", "tid", NAME_COLUMNS, "thread");

    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        if (shown_events(report) & 1u << bit)
            used += snprintf(line + used, sizeof(line) - (size_t)used, " %14s", headings[bit]);
    snprintf(line + used, sizeof(line) - (size_t)used, " %14s%s", "bytes lost",
             total_waited_ns(report) == 0 ? "" : "         waited");
    screen_print(screen, "\n");
    screen_put(screen, SCREEN_STRONG, 0, line);
    screen_print(screen, "\n");
    for (size_t i = 0; i < report->summary.thread_count; i++) {
        put_thread(report, &report->summary.threads[i]);
        lost_bytes += report->summary.threads[i].lost_bytes;
        for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
            totals[bit] += report->summary.threads[i].counts[bit];
    }
    if (report->summary.thread_count > 1) {
        screen_print(screen, "%7s %9s  %-*s", "", "", NAME_COLUMNS, "all");
        put_counts(report, totals, lost_bytes, total_waited_ns(report));
    }
}

static void put_loss(const struct report *report, uint32_t pid, uint64_t count, const char *what)
{
    if (count != 0)
        screen_print(report->call->screen, "process %" PRIu32 " lost %" PRIu64 " %s\n", pid, count, what);
}

/* By reason; what every thread lost is in the list of threads. */
static void put_losses(const struct report *report)
{
    for (size_t i = 0; i < report->summary.manifest.process_count; i++) {
        const struct manifest_process *process = &report->summary.manifest.processes[i];
        const struct manifest_losses *lost = &process->losses;

        put_loss(report, process->pid, lost->late_bytes, "bytes of records that were not read in time");
        put_loss(report, process->pid, lost->no_lane_bytes, "bytes of records of threads without a lane");
        put_loss(report, process->pid, lost->no_room_count, "blocks or modules for which there was no room");
        put_loss(report, process->pid, lost->no_memory_count, "functions or threads to watch, for want of memory");
        put_loss(report, process->pid, lost->not_hooked_count, "functions that are too short to be hooked, or odd");
    }
}

static void put_problems(const struct report *report)
{
    char clean[TEXT_BYTES];

    for (size_t i = 0; i < report->summary.thread_count; i++)
        if (report->summary.threads[i].err.text[0] != '\0')
            screen_print(report->call->screen, "\n%s\n",
                         printable(clean, sizeof(clean), report->summary.threads[i].err.text));
    if (report->summary.detail_err.text[0] != '\0')
        screen_print(report->call->screen, "\n%s\n", printable(clean, sizeof(clean), report->summary.detail_err.text));
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

struct ranked_call {
    const struct call_count *count;
    uint32_t pid;
    uint32_t image;
};

static int compare_calls(const void *left_call, const void *right_call)
{
    const struct ranked_call *left = left_call, *right = right_call;

    if (left->count->calls != right->count->calls)
        return left->count->calls > right->count->calls ? -1 : 1;
    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    if (left->image != right->image)
        return left->image < right->image ? -1 : 1;
    return left->count->address < right->count->address ? -1 : left->count->address > right->count->address;
}

/* All counts of all processes, the most called first. To be freed; NULL: there are none, or there is no memory. */
static struct ranked_call *rank(const struct report *report, size_t *count_out, uint64_t *calls_out)
{
    struct ranked_call *ranked;
    size_t count = 0;

    for (size_t i = 0; i < report->summary.process_count; i++)
        count += report->summary.processes[i].calls.count;
    ranked = count == 0 ? NULL : calloc(count, sizeof(*ranked));
    *count_out = *calls_out = 0;
    for (size_t i = 0; i < report->summary.process_count && ranked != NULL; i++)
        for (size_t j = 0; j < report->summary.processes[i].calls.count; j++) {
            const struct call_count *call = &report->summary.processes[i].calls.counts[j];

            ranked[(*count_out)++] =
                (struct ranked_call){call, report->summary.processes[i].pid, report->summary.processes[i].image};
            *calls_out += call->calls;
        }
    if (ranked != NULL)
        qsort(ranked, count, sizeof(*ranked), compare_calls);
    return ranked;
}

static void put_function(const struct report *report, struct function_names *names, const struct ranked_call *ranked,
                         uint64_t calls)
{
    const struct call_count *count = ranked->count;
    struct screen *screen = report->call->screen;
    char text[TEXT_BYTES], clean[TEXT_BYTES], name[TRACE_PROCESS_NAME_BYTES];
    const char *problem = NULL;

    if (count->module == NULL)
        snprintf(text, sizeof(text), "0x%" PRIx64, count->address);
    else
        problem = function_names_find(names, count->module, count->address, text, sizeof(text));
    screen_print(screen, "%14" PRIu64 " %6.2f%%  ", count->calls, 100.0 * (double)count->calls / (double)calls);
    screen_print(screen, "%-32s", printable(clean, sizeof(clean), text));
    trace_process_name(ranked->pid, ranked->image, name);
    if (report->summary.process_count > 1)
        screen_print(screen, "  %7s", name);
    printable(clean, sizeof(clean), count->module == NULL ? "no file" : count->module->path);
    screen_print(screen, "  %s%s%s%s\n", clean, problem == NULL ? "" : " (", problem == NULL ? "" : problem,
                 problem == NULL ? "" : ")");
}

static void put_functions(const struct report *report)
{
    struct screen *screen = report->call->screen;
    struct function_names names;
    uint64_t calls;
    size_t count;
    struct ranked_call *ranked = rank(report, &count, &calls);

    if (ranked == NULL)
        return;
    function_names_init(&names);
    function_names_use_trace(&names, report->summary.files.folder);
    screen_print(screen, "\n");
    screen_put(screen, SCREEN_STRONG, 0, "         calls   share  function                        ");
    screen_put(screen, SCREEN_STRONG, 0, report->summary.process_count > 1 ? "      pid  file" : "  file");
    screen_print(screen, "\n");
    for (size_t i = 0; i < count && i < (size_t)report->limit; i++)
        put_function(report, &names, &ranked[i], calls);
    if (count > (size_t)report->limit)
        screen_print(screen, "and %zu more; --limit shows them\n", count - (size_t)report->limit);
    function_names_deinit(&names);
    free(ranked);
}

static void put_times(const struct report *report)
{
    struct function_names names;

    function_names_init(&names);
    function_names_use_trace(&names, report->summary.files.folder);
    report_times(report->call->screen, &report->summary, &names, report->limit);
    function_names_deinit(&names);
}

static void put_details_and_crashes(const struct report *report)
{
    struct function_names names;

    function_names_init(&names);
    function_names_use_trace(&names, report->summary.files.folder);
    report_details(report->call->screen, &report->summary, &names, report->limit);
    report_left(report->call->screen, &report->summary, &names);
    report_crash(report->call->screen, &report->summary, &names);
    function_names_deinit(&names);
}

static void show(const struct report *report)
{
    put_field(report->call->screen, "program", report->summary.manifest.program);
    put_command(report);
    put_time(report);
    put_end(report);
    put_events(report);
    report_windows(report->call->screen, &report->summary.manifest);
    put_processes(report);
    put_threads(report);
    put_losses(report);
    put_times(report);
    put_functions(report);
    put_details_and_crashes(report);
    put_problems(report);
}

static enum command_status run(const struct command_call *call)
{
    static const char *const names[] = {"TRACE"};
    struct report report = {.call = call, .limit = LIMIT_DEFAULT};
    struct argument_option options[] = {{"limit", ARGUMENT_NUMBER, &report.limit}};
    struct argument_rules rules = {"report", options, 1, names, 1};
    const char *path;
    enum command_status status = arguments_parse(call, &rules, &path);

    if (status != COMMAND_DONE)
        return status;
    if (trace_summary_read(&report.summary, path, call->error) != 0)
        return COMMAND_FAILED;
    show(&report);
    trace_summary_free(&report.summary);
    return COMMAND_DONE;
}

extern const struct command command_report;
const struct command command_report = {
    .name = "report",
    .arguments = "TRACE [--limit NUMBER]",
    .summary = "what was recorded, and which functions were called most",
    .details = "Reads a trace, which is the folder that was recorded into, and shows what was\n"
               "recorded, when, for how long and how it ended; the processes and threads with\n"
               "their events, how many bytes of records were lost, and how long they waited for\n"
               "the disk, if they did; of hooked functions how long they took, with and without\n"
               "those that they called; and the functions that were called most; where threads\n"
               "went on without being followed, and why; of a recording with triggers, which\n"
               "there were and what was kept; of processes that a signal ended, where, and what\n"
               "threads did last.\n"
               "Names come from the programs and libraries that were mapped: where one is gone\n"
               "or has changed since, they are those that were kept in the trace or, if there\n"
               "are none, the place in the file is shown.\n"
               "\n"
               "  --limit NUMBER    how many functions to show; 20 if not given\n",
    .run = run,
};
