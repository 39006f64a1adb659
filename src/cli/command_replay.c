/* SPDX-License-Identifier: MIT */
/* gait replay: the calls of a trace in their order, indented. */
#include "cli/command.h"

#include "base/text_parse.h"
#include "cli/hints.h"
#include "cli/options/arguments.h"
#include "cli/reading_status.h"
#include "cli/screens/pager.h"
#include "cli/screens/replay_kernel.h"
#include "cli/screens/replay_screen.h"
#include "hosted/error_text.h"
#include "view/replay.h"
#include "view/thread_pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of the column for threads, where only the kernel needs one. */
#define KERNEL_THREAD_COLUMNS 22

struct replay_settings {
    const char *path;
    int depth; /* 0: all */
    int limit; /* of lines; 0: none */
    int by_thread;
    int with_sched;
    int no_pager;
    int time; /* enum replay_time */
    struct argument_texts functions;
    struct argument_texts threads;
    struct argument_texts from;
    struct argument_texts to;
    struct argument_texts min_duration;
};

struct replay_run {
    const struct command_call *call;
    const struct replay_settings *settings;
    struct view_trace trace;
    struct view_functions functions;
    struct function_choice choice;
    struct replay_options options;
    size_t *threads;
    struct pager pager;
    struct replay_screen shown;
    struct replay_kernel kernel;
    bool is_limited;     /* --limit left something out */
    bool has_thread_row; /* which is not shown yet: */
    struct replay_row thread_row;
};

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static enum command_status read_settings(const struct command_call *call, struct replay_settings *settings)
{
    static const char *const names[] = {"TRACE"};
    const struct argument_option options[] = {
        {"function", ARGUMENT_TEXTS, &settings->functions},
        {"thread", ARGUMENT_TEXTS, &settings->threads},
        {"depth", ARGUMENT_NUMBER, &settings->depth},
        {"from", ARGUMENT_TEXTS, &settings->from},
        {"to", ARGUMENT_TEXTS, &settings->to},
        {"min-duration", ARGUMENT_TEXTS, &settings->min_duration},
        {"limit", ARGUMENT_NUMBER, &settings->limit},
        {"time", "none|relative|absolute", &settings->time},
        {"by-thread", NULL, &settings->by_thread},
        {"sched", NULL, &settings->with_sched},
        {"no-pager", NULL, &settings->no_pager},
    };
    const struct argument_rules rules = {"replay", options, sizeof(options) / sizeof(options[0]), names, 1};

    return arguments_parse(call, &rules, &settings->path);
}

/* The last one counts. False: it is none. */
static bool read_time(const struct command_call *call, const char *option, const struct argument_texts *texts,
                      uint64_t *nanoseconds)
{
    const char *text = texts->count == 0 ? NULL : texts->texts[texts->count - 1];

    if (text == NULL || text_parse_duration(text, strlen(text), nanoseconds) == 0)
        return true;
    error_set(call->error, EINVAL,
              "cannot use '--%s %s': its value is a time, as 1.5s, 20ms, 7us or 100ns; try 'gait help replay'", option,
              text);
    return false;
}

static uint64_t ticks_of(const struct view_trace *trace, uint64_t nanoseconds)
{
    double ticks = (double)nanoseconds / view_clock_tick_ns(&trace->clock);

    return ticks < 1e18 ? (uint64_t)ticks : (uint64_t)1e18;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Whether there are as many lines as were asked for. */
static bool is_full(struct replay_run *run)
{
    if (run->settings->limit != 0 && run->shown.line_count > (uint64_t)run->settings->limit)
        run->is_limited = true;
    return run->is_limited;
}

/* What the kernel told before then comes first. False: somebody has seen enough. */
static bool put_kernel(struct replay_run *run, uint64_t before)
{
    if (run->shown.line_count == 0 && run->kernel.has_next && run->kernel.next.time < before)
        replay_screen_put_heading(&run->shown);
    while (!is_full(run) && pager_is_read(&run->pager) && replay_kernel_put(&run->kernel, before))
        ;
    return !run->is_limited && pager_is_read(&run->pager);
}

/* Nothing is said above what is not there. */
static bool has_no_such_function(const struct replay_run *run)
{
    return run->choice.pattern_count != 0 && run->choice.matched_count == 0 && !run->is_limited;
}

static int put_row(void *context, const struct replay_row *row)
{
    struct replay_run *run = context;

    /* A thread in which nothing was asked for is not named. */
    if (row->kind == REPLAY_THREAD && run->choice.pattern_count != 0) {
        run->thread_row = *row;
        run->has_thread_row = true;
        return 0;
    }
    if (run->shown.line_count == 0)
        replay_screen_put_heading(&run->shown);
    if (run->has_thread_row)
        replay_screen_put(&run->shown, &run->thread_row);
    run->has_thread_row = false;
    if (!put_kernel(run, row->time) || is_full(run))
        return 1;
    replay_screen_put(&run->shown, row);
    return pager_is_read(&run->pager) ? 0 : 1;
}

static const char *why_nothing(const struct replay_run *run)
{
    for (size_t i = 0; i < run->trace.files.count && run->trace.thread_count == 0; i++)
        if (run->trace.files.files[i].kind == TRACE_FILE_DETAIL)
            return "there are no events in it; 'gait dump details' shows the details";
    if (run->options.from != 0 || run->options.to != UINT64_MAX || run->options.min_ticks != 0)
        return "there are no calls in it that are within what was asked for";
    return "there are no calls in it";
}

static int put_rows(struct replay_run *run)
{
    const struct replay_receiver receiver = {put_row, run};
    int result;

    result = replay_read(&run->functions, &run->options, &receiver, run->call->error);
    (void)put_kernel(run, UINT64_MAX);
    if (!pager_is_read(&run->pager))
        return 0;
    if (run->shown.line_count == 0 && !has_no_such_function(run))
        replay_screen_put_heading(&run->shown);
    if (run->is_limited)
        screen_print(run->call->screen, "and more; without --limit they are shown\n");
    else if (run->shown.line_count == 1 && run->choice.pattern_count == 0)
        screen_print(run->call->screen, "%s\n", why_nothing(run));
    replay_screen_put_legend(&run->shown);
    return result;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static int choose(struct replay_run *run, uint64_t from_ns, uint64_t to_ns, uint64_t min_ns)
{
    const struct replay_settings *settings = run->settings;
    struct replay_options *options = &run->options;
    int result = thread_pattern_choose(&run->trace, settings->threads.texts, settings->threads.count, &run->threads,
                                       &options->thread_count, run->call->error);

    if (result != 0)
        return result;
    function_choice_init(&run->choice, &run->functions, settings->functions.texts, settings->functions.count);
    options->threads = run->threads;
    options->by_thread = settings->by_thread;
    options->choice = settings->functions.count == 0 ? NULL : &run->choice;
    options->depth = (uint32_t)settings->depth;
    options->from = from_ns == 0 ? 0 : run->trace.clock.first.counter + ticks_of(&run->trace, from_ns);
    options->to = to_ns == UINT64_MAX ? UINT64_MAX : run->trace.clock.first.counter + ticks_of(&run->trace, to_ns);
    options->min_ticks = ticks_of(&run->trace, min_ns);
    return 0;
}

/* Where calls come by thread, or only some do, the kernel's events have no place. */
static void open_kernel(struct replay_run *run)
{
    const struct replay_settings *settings = run->settings;

    if (settings->by_thread || settings->functions.count != 0 || settings->min_duration.count != 0)
        return;
    replay_kernel_init(&run->kernel, &run->shown,
                       &(struct replay_kernel_options){run->options.from, run->options.to, settings->with_sched});
    if (run->kernel.is_there && run->shown.thread_columns == 0)
        run->shown.thread_columns = KERNEL_THREAD_COLUMNS;
    if (run->kernel.is_there && settings->threads.count != 0 &&
        replay_kernel_choose(&run->kernel, run->options.threads, run->options.thread_count) != 0)
        replay_kernel_deinit(&run->kernel);
}

static enum command_status show(struct replay_run *run)
{
    const struct replay_settings *settings = run->settings;
    const char *threshold = settings->min_duration.count == 0 ? NULL : "--min-duration";
    int result, status;

    replay_screen_init(&run->shown, run->call->screen, &run->functions, (enum replay_time)settings->time);
    replay_screen_set_guesses(
        &run->shown, guessed_times_of_threads(&run->trace, run->options.threads, run->options.thread_count), threshold);
    if (run->options.thread_count > 1 && !settings->by_thread)
        replay_screen_add_threads(&run->shown, run->options.threads, run->options.thread_count);
    pager_begin(&run->pager, run->call->screen, !settings->no_pager);
    open_kernel(run);
    result = put_rows(run);
    replay_kernel_deinit(&run->kernel);
    status = pager_end(&run->pager);
    if (status != 0)
        return (enum command_status)status;
    if (result == 0 && has_no_such_function(run))
        result = no_such_function(&run->functions, settings->functions.texts[0], run->call->error);
    return reading_status(run->call, result);
}

static enum command_status replay(const struct command_call *call, const struct replay_settings *settings)
{
    struct replay_run run = {.call = call, .settings = settings};
    uint64_t from = 0, to = UINT64_MAX, min = 0;
    enum command_status status = COMMAND_FAILED;

    if (!read_time(call, "from", &settings->from, &from) || !read_time(call, "to", &settings->to, &to) ||
        !read_time(call, "min-duration", &settings->min_duration, &min))
        return COMMAND_MISUSED;
    if (view_trace_open(&run.trace, settings->path, call->error) != 0)
        return COMMAND_FAILED;
    if (view_functions_init(&run.functions, &run.trace) != 0) {
        error_set(call->error, ENOMEM, "cannot replay '%s': there is no memory", settings->path);
    } else {
        if (choose(&run, from, to, min) == 0)
            status = show(&run);
        function_choice_deinit(&run.choice);
        free(run.threads);
        view_functions_deinit(&run.functions);
    }
    view_trace_close(&run.trace);
    return status;
}

static enum command_status run(const struct command_call *call)
{
    struct replay_settings settings = {.time = REPLAY_TIME_NONE};
    enum command_status status = read_settings(call, &settings);

    return status == COMMAND_DONE ? replay(call, &settings) : status;
}

extern const struct command command_replay;
const struct command command_replay = {
    .name = "replay",
    .arguments = "[OPTIONS] [TRACE]",
    .summary = "the calls of a trace in their order, indented",
    .details = "Shows what was called, in the order of time, each within its caller, with how long\n"
               "it took. A call within which others are shown has two lines, `f() {` and\n"
               "`} /* f */`; the duration stands at its end. Arguments and results are shown where\n"
               "--detail or --arg captured them. Events of the kernel stand between them, behind a *,\n"
               "unless calls are chosen by function or duration, or come by thread. On a terminal it\n"
               "goes through $PAGER, or less.\n"
               "\n"
               "  --function GLOB     only calls of such functions, with all that they call:\n"
               "                      parse*, or libz*!inflate; can be given several times\n"
               "  --thread TID|NAME   only these threads; NAME may be a glob; several times, too\n"
               "  --depth N           only so many levels\n"
               "  --min-duration TIME\n"
               "                      only calls that took that long; guessed times are not compared\n"
               "  --from TIME, --to TIME\n"
               "                      only what happened then, since the recording began; calls that\n"
               "                      are open at that time are shown as well\n"
               "  --time relative|absolute\n"
               "                      a column with when each line happened: since the recording\n"
               "                      began, in seconds, or by the clock (UTC)\n"
               "  --sched             the scheduler's events, too, where --sched recorded them;\n"
               "                      gait report shows what follows from them\n"
               "  --by-thread         one thread after the other, instead of all by time\n"
               "  --limit N           no more than so many lines\n"
               "  --no-pager          all at once\n"
               "\n"
               "Times are 1.5s, 20ms, 7us or 100ns.\n"
               "\n"
               "Without TRACE it is the last one in ./traces, which is said on standard error.\n"
               "\n"
               "Examples:\n"
               "  gait replay traces/sums-20261116-091758 --min-duration 1ms\n"
               "  gait replay traces/sums-20261116-091758 --function 'parse*' --depth 3\n"
               "  gait replay traces/sums-20261116-091758 --from 1.5s --to 1.6s --time relative\n",
    .run = run,
};
