/* SPDX-License-Identifier: MIT */
#include "cli/screens/report_sections.h"

#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/figures.h"
#include "report/report_words.h"
#include "view/trace_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>

#define TEXT_BYTES   512
#define NAME_COLUMNS 16
/* Of processes and threads together, without being asked: functions are to be on the first page. */
#define LINES_MAX 24u

/* ---- processes --------------------------------------------------------------------------------------------------- */

static void put_processes(struct screen *screen, const struct manifest *manifest)
{
    char clean[TEXT_BYTES], status[64];

    screen_print(screen, "\n");
    screen_put(screen, SCREEN_STRONG, 0, "    pid  parent  command");
    screen_print(screen, "\n");
    for (size_t i = 0; i < manifest->process_count; i++) {
        const struct manifest_process *process = &manifest->processes[i];
        char parent[16] = "-", name[TRACE_PROCESS_NAME_BYTES];

        if (process->parent_pid != 0)
            snprintf(parent, sizeof(parent), "%" PRIu32, process->parent_pid);
        report_status_write(process->status, status, sizeof(status));
        trace_process_name(process->pid, process->image, name);
        screen_print(screen, "%7s %7s  %s%s%s%s\n", name, parent, printable(clean, sizeof(clean), process->command),
                     status[0] == '\0' ? "" : "  (", status, status[0] == '\0' ? "" : ")");
    }
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* Which columns there are, since there is something to tell. */
struct thread_columns {
    struct screen *screen;
    uint32_t events;
    bool has_waits;
};

static struct thread_columns find_columns(struct screen *screen, const struct trace_report *report)
{
    const struct view_trace *trace = report->trace;
    struct thread_columns columns = {.screen = screen, .events = trace->manifest.events};

    for (size_t i = 0; i < trace->thread_count; i++) {
        const struct manifest_thread *listed = report_listed_thread(trace, &trace->threads[i]);

        columns.has_waits |= listed != NULL && listed->waited_ns != 0;
        /* What was asked for, or came nevertheless. */
        for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
            columns.events |= report->threads[i].counts[bit] != 0 ? 1u << bit : 0;
    }
    return columns;
}

static void put_heading(const struct thread_columns *columns)
{
    static const char *const headings[EVENT_NAME_COUNT] = {
        "calls", "returns", "instructions", "blocks", "translations", "enters", "leaves", "suspensions", "resumptions"};
    char line[TEXT_BYTES];
    int used = snprintf(line, sizeof(line), "%7s %9s  %-*s", "pid", "tid", NAME_COLUMNS, "thread");

    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        if (columns->events & 1u << bit)
            used += snprintf(line + used, sizeof(line) - (size_t)used, " %14s", headings[bit]);
    snprintf(line + used, sizeof(line) - (size_t)used, " %14s%s", "bytes lost",
             columns->has_waits ? "         waited" : "");
    screen_print(columns->screen, "\n");
    screen_put(columns->screen, SCREEN_STRONG, 0, line);
    screen_print(columns->screen, "\n");
}

/* What those of a thread, or all of them, lost: besides what the tally has. */
static void put_counts(const struct thread_columns *columns, const struct thread_tally *tally, uint64_t unwritten_bytes,
                       uint64_t waited_ns)
{
    char text[FIGURE_BYTES];

    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        if (columns->events & 1u << bit)
            screen_print(columns->screen, " %14" PRIu64, tally->counts[bit]);
    screen_print(columns->screen, " %14" PRIu64, tally->lost_bytes + unwritten_bytes);
    if (columns->has_waits)
        screen_print(columns->screen, " %14s", duration_write((double)waited_ns, text));
    screen_print(columns->screen, "\n");
}

static void put_thread(const struct thread_columns *columns, const struct trace_report *report, size_t index)
{
    const struct view_thread *thread = &report->trace->threads[index];
    const struct view_process *process = &report->trace->processes[thread->process];
    const struct manifest_thread *listed = report_listed_thread(report->trace, thread);
    char clean[TEXT_BYTES], tid[32], name[TRACE_PROCESS_NAME_BYTES];

    if (thread->generation == 1)
        snprintf(tid, sizeof(tid), "%" PRIu32, thread->tid);
    else
        snprintf(tid, sizeof(tid), "%" PRIu32 ".%" PRIu32, thread->tid, thread->generation);
    trace_process_name(process->pid, process->image, name);
    screen_print(columns->screen, "%7s %9s  %-*s", name, tid, NAME_COLUMNS,
                 printable(clean, sizeof(clean), thread->name));
    put_counts(columns, &report->threads[index], listed == NULL ? 0 : listed->unwritten_bytes,
               listed == NULL ? 0 : listed->waited_ns);
}

static void put_threads(struct screen *screen, const struct trace_report *report, bool is_list)
{
    const struct view_trace *trace = report->trace;
    struct thread_columns columns = find_columns(screen, report);
    struct thread_tally all = {.lost_bytes = trace_report_lost_bytes(report)};
    uint64_t waited_ns = 0;

    put_heading(&columns);
    for (size_t i = 0; i < trace->thread_count; i++) {
        const struct manifest_thread *listed = report_listed_thread(trace, &trace->threads[i]);

        if (is_list)
            put_thread(&columns, report, i);
        waited_ns += listed == NULL ? 0 : listed->waited_ns;
        for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
            all.counts[bit] += report->threads[i].counts[bit];
    }
    if (trace->thread_count > 1) {
        screen_print(screen, "%7s %9s  %-*s", "", "", NAME_COLUMNS, "all");
        put_counts(&columns, &all, 0, waited_ns);
    }
}

/* "processes  80, of 161 programs, with 165 threads; 2 ended by a signal, 1 with another status than 0" */
static void put_process_count(struct screen *screen, const struct trace_report *report)
{
    const struct manifest *manifest = &report->trace->manifest;
    size_t first_images = 0, signals = 0, failures = 0;

    for (size_t i = 0; i < manifest->process_count; i++) {
        int status = manifest->processes[i].status;

        first_images += manifest->processes[i].image == 1;
        signals += status >= 0 && WIFSIGNALED(status);
        failures += status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) != 0;
    }
    screen_print(screen, "processes  %zu", first_images);
    if (first_images != manifest->process_count)
        screen_print(screen, ", which ran %zu programs", manifest->process_count);
    screen_print(screen, ", with %zu threads", report->trace->thread_count);
    if (signals != 0)
        screen_print(screen, "; %zu ended by a signal", signals);
    if (failures != 0)
        screen_print(screen, "; %zu with another exit status than 0", failures);
    screen_print(screen, "; --processes lists them\n");
}

/* ---- what is missing --------------------------------------------------------------------------------------------- */

/* Of a process, or of all of them. */
static const char *name_process(const struct manifest_process *process, char text[32])
{
    if (process->pid == 0)
        snprintf(text, 32, "processes");
    else
        snprintf(text, 32, "process %" PRIu32, process->pid);
    return text;
}

static void put_loss(struct screen *screen, const struct manifest_process *process, uint64_t count, const char *what)
{
    char name[32];

    if (count != 0)
        screen_print(screen, "%s lost %" PRIu64 " %s\n", name_process(process, name), count, what);
}

/* What is missing for another reason than those losses, or was done otherwise than the program would have. */
static void put_counters(struct screen *screen, const struct manifest_process *process)
{
    char name[32];

    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        const struct counter_description *counter = counter_describe((enum counter)i);
        uint64_t value = process->counters.values[i];

        if (value != 0 && counter->consequence != NULL)
            screen_print(screen, "%s: %s (%s: %" PRIu64 " %s)\n", name_process(process, name), counter->consequence,
                         counter->name, value, counter->unit);
    }
}

/* By reason; what every thread lost is in the list of threads. */
static void put_losses_of(struct screen *screen, const struct manifest_process *process, uint64_t unwritten_bytes)
{
    const struct manifest_losses *lost = &process->losses;

    put_loss(screen, process, unwritten_bytes, "bytes of records that could not be written");
    put_loss(screen, process, lost->late_bytes, "bytes of records that were not read in time");
    put_loss(screen, process, lost->no_lane_bytes, "bytes of records of threads without a lane");
    put_loss(screen, process, lost->no_room_count, "blocks or modules for which there was no room");
    put_loss(screen, process, lost->no_memory_count, "functions or threads to watch, for want of memory");
    put_loss(screen, process, lost->not_hooked_count, "functions or probes that are too short to be hooked, or odd");
    put_counters(screen, process);
}

static void put_losses(struct screen *screen, const struct manifest *manifest)
{
    for (size_t i = 0; i < manifest->process_count; i++)
        put_losses_of(screen, &manifest->processes[i], manifest_unwritten_bytes(&manifest->processes[i]));
}

/* Of all of them together, as one of which there is no number. */
static void put_losses_of_all(struct screen *screen, const struct manifest *manifest)
{
    struct manifest_process all = {.pid = 0};
    uint64_t unwritten_bytes = 0;

    for (size_t i = 0; i < manifest->process_count; i++) {
        const struct manifest_process *process = &manifest->processes[i];

        unwritten_bytes += manifest_unwritten_bytes(process);
        all.losses.late_bytes += process->losses.late_bytes;
        all.losses.no_lane_bytes += process->losses.no_lane_bytes;
        all.losses.no_room_count += process->losses.no_room_count;
        all.losses.no_memory_count += process->losses.no_memory_count;
        all.losses.not_hooked_count += process->losses.not_hooked_count;
        for (unsigned j = 0; j < COUNTER_COUNT; j++)
            all.counters.values[j] += process->counters.values[j];
    }
    put_losses_of(screen, &all, unwritten_bytes);
}

/* Of what the kernel alone told, there are neither. */
void report_threads(struct screen *screen, const struct trace_report *report, bool is_list)
{
    const struct manifest *manifest = &report->trace->manifest;

    if (manifest->process_count == 0 && report->trace->thread_count == 0)
        return;
    is_list = is_list || manifest->process_count + report->trace->thread_count <= LINES_MAX;
    if (is_list)
        put_processes(screen, manifest);
    else
        put_process_count(screen, report);
    put_threads(screen, report, is_list);
    if (is_list)
        put_losses(screen, manifest);
    else
        put_losses_of_all(screen, manifest);
}

static void put_problem(struct screen *screen, const struct gait_error *err)
{
    char clean[TEXT_BYTES];

    if (err->text[0] != '\0')
        screen_print(screen, "\n%s\n", printable(clean, sizeof(clean), err->text));
}

void report_problems(struct screen *screen, const struct trace_report *report)
{
    for (size_t i = 0; i < report->trace->thread_count; i++)
        put_problem(screen, &report->threads[i].err);
    for (size_t i = 0; i < report->trace->process_count; i++)
        put_problem(screen, &report->processes[i].err);
}
