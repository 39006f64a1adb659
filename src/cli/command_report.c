/* SPDX-License-Identifier: MIT */
/* gait report: what a trace is of, what its threads did, which functions took how long; or how two traces differ. */
#include "cli/command.h"

#include "cli/each_trace.h"
#include "cli/options/arguments.h"
#include "cli/options/nearest_name.h"
#include "cli/reading_status.h"
#include "cli/screens/guess_notice.h"
#include "cli/screens/progress_bar.h"
#include "cli/screens/report_sections.h"
#include "cli/screens/report_table.h"
#include "cli/screens/screen.h"
#include "hosted/error_text.h"
#include "report/report_diff.h"
#include "report/report_json.h"
#include "report/report_words.h"
#include "trace/stream_reader.h"

#include <errno.h>
#include <string.h>

#define LIMIT_DEFAULT 20
#define NO_ORDER      (-1)
#define TEXT_BYTES    512

struct report_choices {
    int by;    /* enum call_group_kind */
    int order; /* enum report_order, or NO_ORDER */
    int limit; /* 0: as is usual */
    int is_json;
    int with_processes;
    int with_sched;     /* its events, too */
    const char *filter; /* NULL: none */
    const char *other;  /* a trace to compare with; NULL: none */
};

/* A trace and what is in it. */
struct report_source {
    struct view_trace trace;
    struct trace_report report;
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Offers names of functions that were called, as they were meant: with the module if that was given. */
static enum command_status refuse_filter(const struct command_call *call, struct report_source *source,
                                         const char *filter)
{
    const char *mark = strchr(filter, '!');
    struct view_functions *functions = &source->report.groups.functions;
    struct nearest_names nearest;
    char suggestion[TEXT_BYTES] = "";

    nearest_names_init(&nearest, mark == NULL ? filter : mark + 1);
    for (size_t i = 0; i < functions->count; i++) {
        const char *name = view_functions_at(functions, (uint32_t)i)->name;

        nearest_names_offer(&nearest, name, strlen(name));
    }
    nearest_names_join(&nearest, suggestion, sizeof(suggestion));
    error_set(call->error, ENOENT, "cannot show '%s': no function that was called matches; %s%s%s", filter,
              suggestion[0] == '\0' ? "try a pattern like '*name*', or none" : "did you mean ", suggestion,
              suggestion[0] == '\0' ? "" : "?");
    return COMMAND_FAILED;
}

static enum command_status refuse_lines(const struct command_call *call, const struct report_choices *choices)
{
    error_set(call->error, ENOENT,
              "cannot count by %s: no function has line information; try a program that was built with -g, or "
              "'--by function'",
              report_kind_name((enum call_group_kind)choices->by));
    return COMMAND_FAILED;
}

/* To be closed if that is COMMAND_DONE. */
static enum command_status open_source(const struct command_call *call, const struct report_choices *choices,
                                       const char *path, struct report_source *source)
{
    struct progress_bar bar;
    const struct trace_report_options options = {
        .by = (enum call_group_kind)choices->by, .filter = choices->filter, .watch = {progress_bar_update, &bar}};
    int result;

    if (view_trace_open(&source->trace, path, call->error) != 0)
        return COMMAND_FAILED;
    progress_bar_begin(&bar, stderr, NULL, "reading debug information");
    result = trace_report_read(&source->report, &source->trace, &options, call->error);
    progress_bar_end(&bar);
    if (result != 0) {
        view_trace_close(&source->trace);
        return COMMAND_FAILED;
    }
    return COMMAND_DONE;
}

static void close_source(struct report_source *source)
{
    trace_report_free(&source->report);
    view_trace_close(&source->trace);
}

/* Whether there is something of what was asked for. */
static enum command_status check_source(const struct command_call *call, const struct report_choices *choices,
                                        struct report_source *source)
{
    const struct trace_report *report = &source->report;

    if (choices->filter != NULL && report->all.calls == 0 && report->groups.functions.count != 0)
        return refuse_filter(call, source, choices->filter);
    if ((choices->by == CALL_GROUP_FILE || choices->by == CALL_GROUP_LINE) && report->all.calls != 0 &&
        !call_groups_know_source(&report->groups))
        return refuse_lines(call, choices);
    return COMMAND_DONE;
}

/* ---- showing ----------------------------------------------------------------------------------------------------- */

static size_t limit_of(const struct report_choices *choices)
{
    if (choices->limit != 0)
        return (size_t)choices->limit;
    return choices->is_json ? SIZE_MAX : LIMIT_DEFAULT;
}

static enum report_order order_of(const struct report_choices *choices, bool has_times)
{
    if (choices->order != NO_ORDER)
        return (enum report_order)choices->order;
    return has_times ? REPORT_BY_TOTAL : REPORT_BY_CALLS;
}

static int show(const struct command_call *call, const struct report_choices *choices, struct trace_report *report,
                struct function_names *names)
{
    const struct report_table table = {call->screen, report, order_of(choices, report->has_times),
                                       choices->order != NO_ORDER, limit_of(choices)};
    struct report_details details;
    int result;

    if (guess_notice_put(call->screen, report->guesses, NULL) != 0)
        screen_print(call->screen, "\n");
    report_recording(call->screen, report);
    report_threads(call->screen, report, choices->with_processes);
    result = report_table_show(&table);
    if (result == 0)
        result = report_details_init(&details, report, names);
    if (result != 0)
        return result;
    report_details_show(&details, call->screen, limit_of(choices));
    report_details_deinit(&details);
    report_probes_show(report, call->screen, limit_of(choices));
    report_system_calls_show(call->screen, report, limit_of(choices));
    report_samples_show(call->screen, report, limit_of(choices));
    report_sched_show(report->trace, call->screen, limit_of(choices));
    report_kernel_show(report->trace, call->screen, choices->with_sched);
    report_left(call->screen, report, names);
    report_crash(call->screen, report, names);
    report_problems(call->screen, report);
    return 0;
}

/* What is not whole is told in the report, and by how the command ends. */
static void note_problems(const struct command_call *call, const struct trace_report *report)
{
    for (size_t i = 0; i < report->trace->thread_count; i++)
        if (stream_error_outweighs(&report->threads[i].err, call->error))
            *call->error = report->threads[i].err;
    for (size_t i = 0; i < report->trace->process_count; i++)
        if (stream_error_outweighs(&report->processes[i].err, call->error))
            *call->error = report->processes[i].err;
}

static enum command_status finish(const struct command_call *call, int result)
{
    if (result == 0)
        return reading_status(call, 0);
    error_set(call->error, result, "cannot show the report: there is no memory for its rows; try to free some");
    return COMMAND_FAILED;
}

static enum command_status report_one(const struct command_call *call, const struct report_choices *choices,
                                      const char *path)
{
    struct report_source source;
    struct function_names names;
    enum command_status status = open_source(call, choices, path, &source);

    if (status != COMMAND_DONE)
        return status;
    status = check_source(call, choices, &source);
    function_names_init(&names);
    function_names_use_trace(&names, source.trace.files.folder);
    if (status == COMMAND_DONE && choices->is_json) {
        const struct report_json json = {call->screen->stream, path, NULL, order_of(choices, source.report.has_times),
                                         limit_of(choices)};

        note_problems(call, &source.report);
        status = finish(call, report_json_write(&json, &source.report, &names));
    } else if (status == COMMAND_DONE) {
        note_problems(call, &source.report);
        status = finish(call, show(call, choices, &source.report, &names));
    }
    function_names_deinit(&names);
    close_source(&source);
    return status;
}

static enum command_status show_diff(const struct command_call *call, const struct report_choices *choices,
                                     const char *path, struct report_source *before, struct report_source *after)
{
    enum report_order order = order_of(choices, before->report.has_times && after->report.has_times);
    const struct report_json json = {call->screen->stream, path, choices->other, order, limit_of(choices)};
    struct report_diff diff;
    int result = report_diff_init(&diff, &before->report, &after->report, order);

    if (result != 0)
        return finish(call, result);
    if (choices->is_json)
        report_json_write_diff(&json, &diff);
    else
        report_changes_show(call->screen, &diff, path, choices->other, limit_of(choices));
    report_diff_deinit(&diff);
    note_problems(call, &before->report);
    note_problems(call, &after->report);
    return finish(call, 0);
}

static enum command_status report_two(const struct command_call *call, const struct report_choices *choices,
                                      const char *path)
{
    struct report_source before, after;
    enum command_status status = open_source(call, choices, path, &before);

    if (status != COMMAND_DONE)
        return status;
    status = open_source(call, choices, choices->other, &after);
    if (status == COMMAND_DONE) {
        /* What is in one of them only is new or gone. */
        if (after.report.all.calls == 0)
            status = check_source(call, choices, &before);
        if (status == COMMAND_DONE && before.report.all.calls == 0)
            status = check_source(call, choices, &after);
        if (status == COMMAND_DONE)
            status = show_diff(call, choices, path, &before, &after);
        close_source(&after);
    }
    close_source(&before);
    return status;
}

static enum command_status report(const struct command_call *call, const char *path, void *context)
{
    const struct report_choices *choices = context;

    return choices->other == NULL ? report_one(call, choices, path) : report_two(call, choices, path);
}

static enum command_status run(const struct command_call *call)
{
    static const char *const names[] = {"TRACE"};
    struct report_choices choices = {.by = CALL_GROUP_FUNCTION, .order = NO_ORDER};
    const struct argument_option options[] = {
        {"by", REPORT_KIND_NAMES, &choices.by},     {"sort", REPORT_ORDER_NAMES, &choices.order},
        {"filter", ARGUMENT_TEXT, &choices.filter}, {"limit", ARGUMENT_NUMBER, &choices.limit},
        {"json", NULL, &choices.is_json},           {"processes", NULL, &choices.with_processes},
        {"sched", NULL, &choices.with_sched},       {"diff", ARGUMENT_TEXT, &choices.other},
    };
    const struct argument_rules rules = {"report", options, sizeof(options) / sizeof(options[0]), names, 1};
    const char *paths[EACH_TRACE_MAX];
    size_t count;
    enum command_status status = arguments_parse_more(call, &rules, paths, EACH_TRACE_MAX, &count);

    if (status != COMMAND_DONE)
        return status;
    return each_trace_show(call, paths, count, &(struct each_trace){report, &choices, !choices.is_json});
}

extern const struct command command_report;
const struct command command_report = {
    .name = "report",
    .arguments =
        "[TRACE...] [--by KIND] [--sort ORDER] [--filter GLOB] [--limit NUMBER] [--processes] [--json] [--diff OTHER]",
    .summary = "what was recorded, and which functions took how long",
    .details = "Reads a trace, which is the folder that was recorded into, and shows what was\n"
               "recorded, when, for how long and how it ended; what was lost; of a recording\n"
               "with triggers, which there were and what was kept; the processes and threads\n"
               "with their events; the functions that took most time, with what they called\n"
               "(total) and without (self), how often they were called, and how long a call\n"
               "took: the shortest, the average, half and 99 % of them at most, the longest; of\n"
               "functions with captured arguments, their last ones; where threads went\n"
               "on without being followed, and why; of processes that a signal ended, where, and\n"
               "what threads did last.\n"
               "\n"
               "  --by KIND         count calls by function (if not given), module, thread, or\n"
               "                    by the file or line of the source where a function begins\n"
               "  --sort ORDER      total, self, calls, avg, p99, max or name; if not given,\n"
               "                    functions are shown by total and by self\n"
               "  --filter GLOB     only calls of functions that match: 'name', 'module!name'\n"
               "  --limit NUMBER    how many rows to show; 20 if not given, with --json all\n"
               "  --processes       lists processes and threads, also where there are many\n"
               "  --sched           how many events of the scheduler there are, too, where --sched\n"
               "                    recorded when threads run; else what follows from them\n"
               "  --json            as JSON: docs/report_json.md says what is in it\n"
               "  --diff OTHER      two traces side by side: TRACE before, OTHER after; what\n"
               "                    has changed most comes first\n"
               "\n"
               "Names come from the programs and libraries that were mapped: where one is gone\n"
               "or has changed since, they are those that were kept in the trace or, if there\n"
               "are none, the place in the file is shown.\n"
               "\n"
               "Several traces are shown one after the other; without any, it is the last one in\n"
               "./traces, which is said on standard error.\n"
               "\n"
               "Examples:\n"
               "  gait report traces/perl-20260131-120000 --sort self --limit 50\n"
               "  gait report trace --by module\n"
               "  gait report trace --filter 'libc.so*!mem*' --sort p99\n"
               "  gait report before --diff after\n",
    .run = run,
};
