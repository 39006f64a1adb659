/* SPDX-License-Identifier: MIT */
#include "cli/screens/report_sections.h"

#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/figures.h"
#include "report/report_words.h"
#include "symbolize/spelled_function.h"
#include "view/trace_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TEXT_BYTES    512
#define FIELD_COLUMNS 11

static void put_field(struct screen *screen, const char *name, const char *text)
{
    char clean[TEXT_BYTES];

    screen_put(screen, SCREEN_STRONG, FIELD_COLUMNS, name);
    screen_print(screen, "%s\n", printable(clean, sizeof(clean), text));
}

static void put_command(struct screen *screen, const struct manifest *manifest)
{
    char text[TEXT_BYTES] = "";
    size_t used = 0;

    for (size_t i = 0; manifest->arguments[i] != NULL && used < sizeof(text); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i == 0 ? "" : " ", manifest->arguments[i]);
    put_field(screen, "command", text);
}

/* "2026-01-31 12:00:00 UTC, for 1.234 s" */
static void put_time(struct screen *screen, const struct trace_report *report)
{
    time_t seconds = (time_t)(report->trace->manifest.began_unix_ns / 1000000000);
    uint64_t duration_ns = report_duration_ns(report);
    char text[TEXT_BYTES], date[64] = "at an unknown time", duration[FIGURE_BYTES];
    struct tm parts;

    if (gmtime_r(&seconds, &parts) != NULL && strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
        strcpy(date, "at an unknown time");
    if (duration_ns != 0)
        snprintf(text, sizeof(text), "%s, for %s", date, duration_write((double)duration_ns, duration));
    else
        snprintf(text, sizeof(text), "%s", date);
    put_field(screen, "recorded", text);
}

/* How the first process ended, whatever programs it became. */
static int first_status(const struct manifest *manifest)
{
    int status = -1;

    for (size_t i = 0; i < manifest->process_count; i++)
        if (manifest->processes[i].pid == manifest->processes[0].pid && manifest->processes[i].status != -1)
            status = manifest->processes[i].status;
    return status;
}

static void put_end(struct screen *screen, const struct manifest *manifest)
{
    char text[TEXT_BYTES], status[64] = "";

    if (strcmp(manifest->ended, "running") == 0) {
        put_field(screen, "ended", "not yet, or the recorder was killed");
        return;
    }
    report_status_write(first_status(manifest), status, sizeof(status));
    /* The status says as much, and more. */
    if (status[0] != '\0' && (strcmp(manifest->ended, "exit") == 0 || strcmp(manifest->ended, "signal") == 0))
        snprintf(text, sizeof(text), "%s", status);
    else
        snprintf(text, sizeof(text), "%s%s%s", manifest->ended, status[0] == '\0' ? "" : ", ", status);
    put_field(screen, "ended", text);
}

static void put_events(struct screen *screen, const struct manifest *manifest)
{
    char text[TEXT_BYTES] = "";

    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        if (manifest->events & 1u << bit)
            strcat(strcat(text, text[0] == '\0' ? "" : ", "), event_name(bit));
    if (text[0] == '\0')
        strcat(text, "none");
    strcat(text, manifest->with_times ? "; with times" : "; without times");
    put_field(screen, "events", text);
}

static void put_calls(struct screen *screen, const struct trace_report *report)
{
    size_t threads = report->trace->thread_count, functions = report->groups.count;
    char text[TEXT_BYTES], calls[FIGURE_BYTES], count[FIGURE_BYTES], of[TEXT_BYTES] = "";

    if (report->all.calls == 0)
        return;
    if (report->groups.filter != NULL)
        snprintf(of, sizeof(of), " of functions that match '%s'", report->groups.filter);
    else if (report->groups.kind == CALL_GROUP_FUNCTION)
        snprintf(of, sizeof(of), " of %s function%s", count_write(functions, count), functions == 1 ? "" : "s");
    snprintf(text, sizeof(text), "%s%.400s, in %zu thread%s", count_write(report->all.calls, calls), of, threads,
             threads == 1 ? "" : "s");
    put_field(screen, "calls", text);
}

/* Before it was to end. */
static bool is_cut(const struct manifest *manifest)
{
    return strcmp(manifest->ended, "disk full") == 0 || strcmp(manifest->ended, "interrupted") == 0;
}

static bool has_unhooked(const struct manifest *manifest)
{
    for (size_t i = 0; i < manifest->process_count; i++)
        for (size_t j = 0; j < manifest->processes[i].unhooked_listed; j++)
            if (manifest->processes[i].unhooked[j].is_named)
                return true;
    return false;
}

/* By reason it is told with the threads. */
static void put_losses(struct screen *screen, const struct trace_report *report)
{
    const struct manifest *manifest = &report->trace->manifest;
    uint64_t bytes = trace_report_lost_bytes(report), places = 0;
    char text[TEXT_BYTES], lost[FIGURE_BYTES], count[FIGURE_BYTES];

    for (size_t i = 0; i < report->trace->thread_count; i++)
        places += report->threads[i].loss_count;
    count_write(bytes, lost);
    count_write(places, count);
    if (bytes == 0 && strcmp(manifest->ended, "running") == 0)
        snprintf(text, sizeof(text), "nothing of what was written so far");
    else if (bytes == 0 && is_cut(manifest))
        snprintf(text, sizeof(text), "what came after the recording had ended");
    else if (bytes == 0)
        snprintf(text, sizeof(text), "%s", has_unhooked(manifest) ? "nothing of what was hooked" : "nothing");
    else if (places == 0)
        snprintf(text, sizeof(text), "%s bytes of records, and what came after", lost);
    else
        snprintf(text, sizeof(text), "%s bytes of records, in %s place%s%s", lost, count, places == 1 ? "" : "s",
                 is_cut(manifest) ? ", and what came after" : "");
    put_field(screen, "lost", text);
}

/* Each once: processes that run the same program have the same functions. */
static bool was_put(const struct manifest *manifest, size_t process, size_t which)
{
    const char *name = manifest->processes[process].unhooked[which].name;

    for (size_t i = 0; i <= process; i++)
        for (size_t j = 0; j < (i == process ? which : manifest->processes[i].unhooked_listed); j++)
            if (strcmp(manifest->processes[i].unhooked[j].name, name) == 0)
                return true;
    return false;
}

/* Those that somebody asked for. */
static void put_unhooked(struct screen *screen, const struct manifest *manifest)
{
    char name[TEXT_BYTES], text[2 * TEXT_BYTES];

    for (size_t i = 0; i < manifest->process_count; i++)
        for (size_t j = 0; j < manifest->processes[i].unhooked_listed; j++) {
            const struct manifest_unhooked *unhooked = &manifest->processes[i].unhooked[j];

            if (!unhooked->is_named || was_put(manifest, i, j))
                continue;
            snprintf(text, sizeof(text), "%s: %s", spelled_function(unhooked->name, name, sizeof(name)), unhooked->why);
            put_field(screen, "not hooked", text);
        }
}

void report_recording(struct screen *screen, const struct trace_report *report)
{
    const struct manifest *manifest = &report->trace->manifest;

    put_field(screen, "program", manifest->program);
    put_command(screen, manifest);
    put_time(screen, report);
    put_end(screen, manifest);
    put_events(screen, manifest);
    put_calls(screen, report);
    put_unhooked(screen, manifest);
    put_losses(screen, report);
    report_windows(screen, manifest);
}
