/* SPDX-License-Identifier: MIT */
/* gait graph: who calls whom, with how often and how long; of all of a trace, or of single functions. */
#include "cli/command.h"

#include "base/text_parse.h"
#include "cli/each_trace.h"
#include "cli/hints.h"
#include "cli/last_trace.h"
#include "cli/options/arguments.h"
#include "cli/reading_status.h"
#include "cli/screens/graph_screen.h"
#include "cli/screens/pager.h"
#include "cli/screens/sample_screen.h"
#include "hosted/error_text.h"
#include "hosted/json_writer.h"
#include "report/sample_json.h"
#include "trace/stream_reader.h"
#include "view/sample_tree.h"
#include "view/thread_pattern.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_DEFAULT       32
#define DEPTH_MAX           1000
#define MIN_PERCENT_DEFAULT 0.5
#define NODES_MAX           1000000u

struct graph_settings {
    const char *path;
    const char *function; /* NULL: all */
    int depth;
    int as_json;
    int no_pager;
    double min_percent;
    struct argument_texts min_percents;
    struct argument_texts threads;
    const char *words[EACH_TRACE_MAX]; /* paths of traces, and perhaps a function */
    size_t trace_count;
};

struct graph_run {
    const struct command_call *call;
    const struct graph_settings *settings;
    struct view_trace trace;
    struct view_functions functions;
    size_t *threads;
    size_t thread_count;
    struct graph_screen shown;
    struct call_graph *graphs; /* of each process */
    size_t graph_count;
    struct function_choice choice;
    struct call_focuses focuses;
    struct call_graph_missing missing;
    enum guessed_times guesses;
    struct sample_trees samples; /* stacks that the kernel took */
    bool has_samples;
};

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static bool read_percent(const struct command_call *call, struct graph_settings *settings)
{
    const struct argument_texts *texts = &settings->min_percents;
    const char *text = texts->count == 0 ? NULL : texts->texts[texts->count - 1];
    uint64_t thousandths;

    settings->min_percent = settings->as_json ? 0 : MIN_PERCENT_DEFAULT;
    if (text == NULL)
        return true;
    if (text_parse_scaled(text, strlen(text), 1000, &thousandths) != 0 || thousandths > 100000) {
        error_set(call->error, EINVAL,
                  "cannot use '--min-percent %s': its value is a number from 0 to 100; try 'gait help graph'", text);
        return false;
    }
    settings->min_percent = (double)thousandths / 1000;
    return true;
}

/* The last word is a function if it is no trace; where there is nothing else, it is one of the last trace. */
static enum command_status divide_words(const struct command_call *call, struct graph_settings *settings, size_t count)
{
    settings->trace_count = count;
    for (size_t i = 1; i + 1 < count; i++)
        if (!last_trace_is_named_by(settings->words[i])) {
            error_set(
                call->error, EINVAL,
                "cannot use '%s': there is no such trace, and FUNCTION is one word, the last; try 'gait help graph'",
                settings->words[i]);
            return COMMAND_MISUSED;
        }
    if (last_trace_is_named_by(settings->words[count - 1]) || strchr(settings->words[count - 1], '/') != NULL)
        return COMMAND_DONE;
    settings->function = settings->words[count - 1];
    settings->trace_count = count - 1;
    if (count > 1)
        return COMMAND_DONE;
    settings->words[0] = last_trace_take("graph", call->error);
    settings->trace_count = 1;
    return settings->words[0] == NULL ? COMMAND_MISUSED : COMMAND_DONE;
}

static enum command_status read_settings(const struct command_call *call, struct graph_settings *settings)
{
    static const char *const names[] = {"TRACE"};
    const struct argument_option options[] = {
        {"depth", ARGUMENT_NUMBER, &settings->depth},   {"min-percent", ARGUMENT_TEXTS, &settings->min_percents},
        {"thread", ARGUMENT_TEXTS, &settings->threads}, {"json", NULL, &settings->as_json},
        {"no-pager", NULL, &settings->no_pager},
    };
    const struct argument_rules rules = {"graph", options, sizeof(options) / sizeof(options[0]), names, 1};
    size_t count;
    enum command_status status = arguments_parse_more(call, &rules, settings->words, EACH_TRACE_MAX, &count);

    if (status == COMMAND_DONE)
        status = divide_words(call, settings, count);
    if (status != COMMAND_DONE)
        return status;
    if (settings->depth > DEPTH_MAX)
        settings->depth = DEPTH_MAX;
    return read_percent(call, settings) ? COMMAND_DONE : COMMAND_MISUSED;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int make_graphs(struct graph_run *run)
{
    run->graphs = calloc(run->trace.process_count + 1, sizeof(*run->graphs));
    if (run->graphs == NULL)
        return -ENOMEM;
    for (; run->graph_count < run->trace.process_count; run->graph_count++)
        if (call_graph_init(&run->graphs[run->graph_count], (uint32_t)run->settings->depth, NODES_MAX) != 0)
            return -ENOMEM;
    return 0;
}

static int read_thread(struct graph_run *run, size_t thread, struct gait_error *err)
{
    if (run->settings->function != NULL)
        return call_focuses_read(&run->focuses, thread, &run->missing, err);
    return call_graph_read(&run->graphs[run->trace.threads[thread].process], &run->functions, thread, &run->missing,
                           err);
}

/* What can be read is shown, whatever cannot be. */
static int read_threads(struct graph_run *run)
{
    int first_result = 0;

    for (size_t i = 0; i < run->thread_count; i++) {
        struct gait_error why = {.code = 0};
        int result = read_thread(run, run->threads[i], &why);

        first_result = first_result == 0 ? result : first_result;
        if (stream_error_outweighs(&why, run->call->error))
            *run->call->error = why;
    }
    return first_result;
}

/* ---- showing ----------------------------------------------------------------------------------------------------- */

static bool has_calls(const struct call_graph *graph)
{
    return graph->nodes[CALL_GRAPH_ROOT].first_child != CALL_GRAPH_NONE;
}

static void show_focuses(struct graph_run *run)
{
    uint64_t too_deep = 0, left_out = 0;

    for (size_t i = 0; i < run->focuses.count; i++) {
        const struct call_focus *focus = &run->focuses.focuses[i];

        graph_screen_put_focus(&run->shown, focus);
        too_deep += focus->callees.too_deep;
        left_out += focus->callees.left_out + focus->callers.left_out;
    }
    if (run->choice.matched_count > run->focuses.count)
        screen_print(run->call->screen, "%zu more functions have such a name; try another one\n",
                     run->choice.matched_count - run->focuses.count);
    graph_screen_put_legend(&run->shown, too_deep, left_out, &run->missing);
}

static void show_graphs(struct graph_run *run)
{
    uint64_t too_deep = 0, left_out = 0;
    bool is_empty = true;

    for (size_t i = 0; i < run->graph_count; i++) {
        if (!has_calls(&run->graphs[i]))
            continue;
        is_empty = false;
        call_graph_sort(&run->graphs[i]);
        graph_screen_put_process(&run->shown, &run->trace.processes[i], &run->graphs[i]);
        too_deep += run->graphs[i].too_deep;
        left_out += run->graphs[i].left_out;
    }
    if (is_empty && !run->has_samples)
        screen_print(run->call->screen, "there are no calls in it\n");
    graph_screen_put_legend(&run->shown, too_deep, left_out, &run->missing);
}

/* Below calls, if there are some. */
static void show_samples(struct graph_run *run)
{
    struct sample_screen shown = {.screen = run->call->screen,
                                  .depth = (uint32_t)run->settings->depth,
                                  .min_share = run->settings->min_percent / 100};

    if (!run->has_samples)
        return;
    if (run->settings->function == NULL)
        sample_screen_put_trees(&shown, &run->samples);
    else if (sample_screen_put_focuses(&shown, &run->samples, run->settings->function) == -ENOMEM)
        screen_print(run->call->screen, "there is no memory for the stacks of '%s'\n", run->settings->function);
}

static void show_json(struct graph_run *run)
{
    struct json_writer json = {.stream = run->call->screen->stream, .layout = JSON_DENSE};

    json_writer_open(&json, NULL, '{');
    json_writer_text(&json, "times", run->guesses == GUESSED_TIMES_NONE ? "recorded" : "guessed");
    json_writer_open(&json, run->settings->function == NULL ? "processes" : "functions", '[');
    for (size_t i = 0; i < run->graph_count; i++) {
        if (!has_calls(&run->graphs[i]))
            continue;
        call_graph_sort(&run->graphs[i]);
        report_graph_put_process(&run->shown.graph, &json, &run->trace.processes[i], &run->graphs[i]);
    }
    for (size_t i = 0; i < run->focuses.count; i++)
        report_graph_put_focus(&run->shown.graph, &json, &run->focuses.focuses[i]);
    json_writer_close(&json, ']');
    if (run->has_samples)
        sample_json_put_trees(&json, &run->samples, run->settings->min_percent / 100);
    json_writer_count(&json, "gaps", run->missing.gaps);
    json_writer_count(&json, "lost_bytes", run->missing.lost_bytes);
    json_writer_close(&json, '}');
    fputs("\n", json.stream);
}

static enum command_status show(struct graph_run *run, int result)
{
    struct pager pager;
    int status;

    graph_screen_init(&run->shown, run->call->screen, &run->functions, run->settings->min_percent / 100);
    call_focuses_sort(&run->focuses);
    pager_begin(&pager, run->call->screen, !run->settings->no_pager && !run->settings->as_json);
    if (!run->settings->as_json)
        graph_screen_put_guesses(&run->shown, run->guesses);
    if (run->settings->as_json)
        show_json(run);
    else if (run->settings->function != NULL)
        show_focuses(run);
    else
        show_graphs(run);
    if (!run->settings->as_json)
        show_samples(run);
    status = pager_end(&pager);
    if (status != 0)
        return (enum command_status)status;
    return reading_status(run->call, result);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Without any, there is nothing to be said. */
static int read_samples(struct graph_run *run)
{
    const struct argument_texts *threads = &run->settings->threads;
    const struct sample_choice choice = {threads->texts, threads->count};
    struct gait_error err = {.code = 0};
    int result = sample_trees_read(&run->samples, &run->functions, &choice, &err);

    if (result == 0) {
        run->has_samples = sample_trees_have_stacks(&run->samples);
        if (stream_error_outweighs(&run->samples.problem, run->call->error))
            *run->call->error = run->samples.problem;
    }
    return result == -ENOENT ? 0 : result;
}

/* Whether some stack leads through it. */
static bool is_sampled(const struct graph_run *run)
{
    for (size_t i = 0; run->has_samples && i < run->samples.sources.source_count; i++) {
        struct sample_tree found;

        if (sample_tree_focus(&run->samples.trees[i], run->settings->function, false, &found) == 0) {
            sample_tree_deinit(&found);
            return true;
        }
    }
    return false;
}

static enum command_status run_open(struct graph_run *run)
{
    const struct graph_settings *settings = run->settings;
    int result;

    if (settings->function == NULL && make_graphs(run) != 0) {
        error_set(run->call->error, ENOMEM, "cannot show the calls of '%s': there is no memory", settings->path);
        return COMMAND_FAILED;
    }
    if (read_samples(run) == -ENOMEM) {
        error_set(run->call->error, ENOMEM, "cannot add up the stacks of '%s': there is no memory", settings->path);
        return COMMAND_FAILED;
    }
    /* Threads that only the kernel tells of are none of the trace's. */
    if ((!run->has_samples || run->trace.thread_count != 0) &&
        thread_pattern_choose(&run->trace, settings->threads.texts, settings->threads.count, &run->threads,
                              &run->thread_count, run->call->error) != 0)
        return COMMAND_FAILED;
    run->guesses = guessed_times_of_threads(&run->trace, run->threads, run->thread_count);
    result = read_threads(run);
    if (result == 0 && settings->function != NULL && run->focuses.count == 0 && !is_sampled(run)) {
        no_such_function(&run->functions, settings->function, run->call->error);
        return COMMAND_FAILED;
    }
    return show(run, result);
}

static void release(struct graph_run *run)
{
    for (size_t i = 0; i < run->graph_count; i++)
        call_graph_deinit(&run->graphs[i]);
    if (run->samples.trees != NULL)
        sample_trees_deinit(&run->samples);
    free(run->graphs);
    free(run->threads);
    call_focuses_deinit(&run->focuses);
    function_choice_deinit(&run->choice);
    view_functions_deinit(&run->functions);
    view_trace_close(&run->trace);
}

static enum command_status graph(const struct command_call *call, const char *path, void *context)
{
    struct graph_settings *settings = context;
    struct graph_run run = {.call = call, .settings = settings};
    enum command_status status;

    settings->path = path;
    if (view_trace_open(&run.trace, settings->path, call->error) != 0)
        return COMMAND_FAILED;
    if (view_functions_init(&run.functions, &run.trace) != 0) {
        error_set(call->error, ENOMEM, "cannot show the calls of '%s': there is no memory", settings->path);
        view_trace_close(&run.trace);
        return COMMAND_FAILED;
    }
    function_choice_init(&run.choice, &run.functions, &settings->function, settings->function != NULL);
    call_focuses_init(&run.focuses, &run.choice, (uint32_t)settings->depth);
    status = run_open(&run);
    release(&run);
    return status;
}

static enum command_status run(const struct command_call *call)
{
    struct graph_settings settings = {.depth = DEPTH_DEFAULT};
    enum command_status status = read_settings(call, &settings);

    if (status != COMMAND_DONE)
        return status;
    return each_trace_show(call, settings.words, settings.trace_count,
                           &(struct each_trace){graph, &settings, !settings.as_json});
}

extern const struct command command_graph;
const struct command command_graph = {
    .name = "graph",
    .arguments = "[OPTIONS] [TRACE...] [FUNCTION]",
    .summary = "who calls whom, how often and for how long",
    .details = "Adds up all calls by their paths: below each function is whom it called, with how\n"
               "often and how long, the longest first. total is the time from a call's beginning\n"
               "to its end, self is that without the calls it made; the times of several threads\n"
               "are added. Where a function is called again within itself, \"(again)\" says so: its\n"
               "time, and what it calls, are counted where it stands above.\n"
               "\n"
               "Of a profile (gait probe --stack, or --probe profile:hz:99) the stacks are added up in\n"
               "the same way, and samples counted in the place of time.\n"
               "\n"
               "With FUNCTION, a glob as parse* or libz*!inflate, shows who called it, and below\n"
               "that whom it called, on all paths together. The last word is one if it leads to no\n"
               "trace.\n"
               "\n"
               "  --depth N           only so many levels (32)\n"
               "  --min-percent N     only what has at least that share of the time (0.5)\n"
               "  --thread TID|NAME   only these threads; NAME may be a glob; several times, too\n"
               "  --json              for other programs; all, if --min-percent is not given\n"
               "  --no-pager          all at once, also on a terminal\n"
               "\n"
               "Several traces are shown one after the other; without any, it is the last one in\n"
               "./traces, which is said on standard error.\n"
               "\n"
               "Examples:\n"
               "  gait graph traces/sums-20261116-091758 --depth 4\n"
               "  gait graph traces/sums-20261116-091758 parse_line\n",
    .run = run,
};
