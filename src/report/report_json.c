/* SPDX-License-Identifier: MIT */
/* Members are only ever added; a change that takes one away, or changes what it means, adds one to the version. */
#include "report/report_json.h"

#include "hosted/json_writer.h"
#include "report/kernel_totals.h"
#include "report/report_diff.h"
#include "report/report_words.h"
#include "report/sample_json.h"
#include "symbolize/spelled_function.h"
#include "view/record_words.h"
#include "view/sample_tree.h"
#include "view/sched_times.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#define VERSION    1
#define TEXT_BYTES 512

/* ---- what was recorded ------------------------------------------------------------------------------------------- */

static void put_events(struct json_writer *page, uint32_t events)
{
    json_writer_open(page, "events", '[');
    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        if (events & 1u << bit)
            json_writer_text(page, NULL, event_name(bit));
    json_writer_close(page, ']');
}

static const char *name_times(const struct trace_report *report)
{
    return !report->has_times ? "none" : report->has_guesses ? "guessed" : "recorded";
}

static void put_recording(struct json_writer *page, const char *path, const struct trace_report *report)
{
    const struct manifest *manifest = &report->trace->manifest;

    json_writer_text(page, "trace", path);
    json_writer_text(page, "program", manifest->program);
    json_writer_open(page, "command", '[');
    for (size_t i = 0; manifest->arguments[i] != NULL; i++)
        json_writer_text(page, NULL, manifest->arguments[i]);
    json_writer_close(page, ']');
    json_writer_signed(page, "began_unix_ns", manifest->began_unix_ns);
    json_writer_count(page, "duration_ns", report_duration_ns(report));
    json_writer_text(page, "ended", manifest->ended);
    put_events(page, manifest->events);
    json_writer_text(page, "times", name_times(report));
    json_writer_count(page, "lost_bytes", trace_report_lost_bytes(report));
}

static void put_triggers(struct json_writer *page, const struct view_trace *trace)
{
    const struct manifest *manifest = &trace->manifest;

    json_writer_open(page, "triggers", '[');
    for (size_t i = 0; i < manifest->trigger_count; i++) {
        const struct manifest_trigger *trigger = &manifest->triggers[i];

        json_writer_open(page, NULL, '{');
        json_writer_text(page, "kind", trigger->kind);
        json_writer_text(page, "text", trigger->text);
        json_writer_count(page, "time_ns", view_trace_ns(trace, trigger->time));
        json_writer_count(page, "pid", trigger->pid);
        json_writer_count(page, "tid", trigger->tid);
        json_writer_close(page, '}');
    }
    json_writer_close(page, ']');
    json_writer_count(page, "triggers_left_out", manifest->triggers_left_out);
}

static void put_windows(struct json_writer *page, const struct view_trace *trace)
{
    const struct manifest *manifest = &trace->manifest;

    json_writer_bool(page, "is_flight", manifest->is_flight);
    json_writer_open(page, "windows", '[');
    for (size_t i = 0; i < manifest->window_count; i++) {
        json_writer_open(page, NULL, '{');
        json_writer_count(page, "from_ns", view_trace_ns(trace, manifest->windows[i].from));
        json_writer_count(page, "to_ns", view_trace_ns(trace, manifest->windows[i].to));
        json_writer_bool(page, "is_cut", manifest->windows[i].is_cut);
        json_writer_close(page, '}');
    }
    json_writer_close(page, ']');
    json_writer_count(page, "pieces", manifest->piece_count);
    json_writer_count(page, "pieces_deleted", manifest_deleted_pieces(manifest));
}

/* ---- processes and threads --------------------------------------------------------------------------------------- */

static void put_losses(struct json_writer *page, const struct manifest_process *process)
{
    const struct manifest_losses *losses = &process->losses;

    json_writer_open(page, "lost", '{');
    json_writer_count(page, "unwritten_bytes", manifest_unwritten_bytes(process));
    json_writer_count(page, "late_bytes", losses->late_bytes);
    json_writer_count(page, "no_lane_bytes", losses->no_lane_bytes);
    json_writer_count(page, "no_room_count", losses->no_room_count);
    json_writer_count(page, "no_memory_count", losses->no_memory_count);
    json_writer_count(page, "not_hooked_count", losses->not_hooked_count);
    json_writer_close(page, '}');
}

static void put_unhooked(struct json_writer *page, const struct manifest_process *process)
{
    char name[TEXT_BYTES];

    json_writer_open(page, "not_hooked", '[');
    for (size_t i = 0; i < process->unhooked_listed; i++) {
        const struct manifest_unhooked *unhooked = &process->unhooked[i];

        json_writer_open(page, NULL, '{');
        json_writer_text(page, "function", spelled_function(unhooked->name, name, sizeof(name)));
        json_writer_text(page, "reason", unhooked->why);
        json_writer_bool(page, "is_named", unhooked->is_named);
        json_writer_close(page, '}');
    }
    json_writer_close(page, ']');
}

/* Those that mean something for what is in the trace. */
static void put_counters(struct json_writer *page, const struct counters_snapshot *counters)
{
    json_writer_open(page, "counters", '[');
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        const struct counter_description *counter = counter_describe((enum counter)i);

        if (counters->values[i] == 0 || counter->consequence == NULL)
            continue;
        json_writer_open(page, NULL, '{');
        json_writer_text(page, "name", counter->name);
        json_writer_count(page, "value", counters->values[i]);
        json_writer_text(page, "unit", counter->unit);
        json_writer_text(page, "consequence", counter->consequence);
        json_writer_close(page, '}');
    }
    json_writer_close(page, ']');
}

/* Where its threads went on without being followed. */
static void put_left(struct json_writer *page, const struct view_trace *trace, const struct manifest_process *process)
{
    json_writer_count(page, "left_count", process->left_count);
    json_writer_open(page, "left", '[');
    for (size_t i = 0; i < process->left_listed; i++) {
        const struct manifest_left *left = &process->left[i];

        json_writer_open(page, NULL, '{');
        json_writer_count(page, "tid", left->tid);
        json_writer_address(page, "address", left->pc);
        json_writer_count(page, "time_ns", view_trace_ns(trace, left->time));
        json_writer_text(page, "reason", report_left_explain(left->reason));
        json_writer_close(page, '}');
    }
    json_writer_close(page, ']');
}

static void put_process(struct json_writer *page, const struct view_trace *trace,
                        const struct manifest_process *process)
{
    json_writer_open(page, NULL, '{');
    json_writer_count(page, "pid", process->pid);
    json_writer_count(page, "image", process->image);
    json_writer_count(page, "parent_pid", process->parent_pid);
    json_writer_text(page, "command", process->command);
    if (process->status != -1 && WIFEXITED(process->status))
        json_writer_signed(page, "exit_status", WEXITSTATUS(process->status));
    else
        json_writer_null(page, "exit_status");
    if (process->status != -1 && WIFSIGNALED(process->status))
        json_writer_signed(page, "signal", WTERMSIG(process->status));
    else
        json_writer_null(page, "signal");
    put_losses(page, process);
    put_unhooked(page, process);
    put_counters(page, &process->counters);
    put_left(page, trace, process);
    json_writer_close(page, '}');
}

/* Who a thread is. */
static void put_identity(struct json_writer *page, const struct view_trace *trace, size_t index)
{
    const struct view_thread *thread = &trace->threads[index];

    json_writer_count(page, "pid", view_trace_process_of(trace, index)->pid);
    json_writer_count(page, "image", view_trace_process_of(trace, index)->image);
    json_writer_count(page, "tid", thread->tid);
    json_writer_count(page, "generation", thread->generation);
}

static void put_thread(struct json_writer *page, const struct trace_report *report, size_t index)
{
    const struct manifest_thread *listed = report_listed_thread(report->trace, &report->trace->threads[index]);
    const struct thread_tally *tally = &report->threads[index];

    json_writer_open(page, NULL, '{');
    put_identity(page, report->trace, index);
    json_writer_text(page, "name", report->trace->threads[index].name);
    json_writer_open(page, "events", '{');
    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        if (tally->counts[bit] != 0)
            json_writer_count(page, event_name(bit), tally->counts[bit]);
    json_writer_close(page, '}');
    json_writer_count(page, "lost_bytes", tally->lost_bytes);
    json_writer_count(page, "unwritten_bytes", listed == NULL ? 0 : listed->unwritten_bytes);
    json_writer_count(page, "loss_count", tally->loss_count);
    json_writer_count(page, "gap_count", tally->gap_count);
    json_writer_count(page, "wait_count", listed == NULL ? 0 : listed->wait_count);
    json_writer_count(page, "waited_ns", listed == NULL ? 0 : listed->waited_ns);
    json_writer_close(page, '}');
}

static void put_threads(struct json_writer *page, const struct trace_report *report)
{
    json_writer_open(page, "processes", '[');
    for (size_t i = 0; i < report->trace->manifest.process_count; i++)
        put_process(page, report->trace, &report->trace->manifest.processes[i]);
    json_writer_close(page, ']');
    json_writer_open(page, "threads", '[');
    for (size_t i = 0; i < report->trace->thread_count; i++)
        put_thread(page, report, i);
    json_writer_close(page, ']');
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void put_time(struct json_writer *page, const char *name, const struct trace_report *report, double ticks)
{
    if (report->has_times)
        json_writer_number(page, name, ticks * view_clock_tick_ns(&report->trace->clock));
    else
        json_writer_null(page, name);
}

/* Null where of none of the calls it is known how long it took. */
static void put_known_time(struct json_writer *page, const char *name, const struct trace_report *report,
                           const struct call_statistics *statistics, double ticks)
{
    if (call_statistics_have_times(statistics) || statistics->calls == 0)
        put_time(page, name, report, ticks);
    else
        json_writer_null(page, name);
}

static void put_statistics(struct json_writer *page, const struct trace_report *report,
                           const struct call_statistics *statistics)
{
    json_writer_count(page, "calls", statistics->calls);
    put_known_time(page, "total_ns", report, statistics, (double)statistics->total);
    put_known_time(page, "self_ns", report, statistics, (double)statistics->self);
    put_known_time(page, "sum_ns", report, statistics, (double)statistics->sum);
    put_known_time(page, "min_ns", report, statistics, (double)statistics->shortest);
    put_known_time(page, "avg_ns", report, statistics, call_statistics_average(statistics));
    put_known_time(page, "p50_ns", report, statistics, (double)call_statistics_percentile(statistics, 50));
    put_known_time(page, "p90_ns", report, statistics, (double)call_statistics_percentile(statistics, 90));
    put_known_time(page, "p99_ns", report, statistics, (double)call_statistics_percentile(statistics, 99));
    put_known_time(page, "max_ns", report, statistics, (double)statistics->longest);
    json_writer_count(page, "guessed", statistics->guessed);
    json_writer_count(page, "cut", statistics->cut);
    json_writer_count(page, "no_return", statistics->no_return);
    json_writer_count(page, "unwound", statistics->unwound);
    json_writer_count(page, "entry_only", statistics->entry_only);
    json_writer_count(page, "suspended", statistics->suspended);
}

static void put_function(struct json_writer *page, const struct view_function *function)
{
    json_writer_text(page, "module", function->module == NULL ? NULL : function->module->path);
    json_writer_address(page, "address", function->address);
    json_writer_text(page, "problem", function->problem);
}

static void put_source(struct json_writer *page, const struct call_group *group)
{
    json_writer_text(page, "file", group->file);
    json_writer_count(page, "line", group->line);
}

static void put_row(struct json_writer *page, struct trace_report *report, const struct report_row *row)
{
    char name[REPORT_NAME_BYTES];

    json_writer_open(page, NULL, '{');
    if (report->groups.kind == CALL_GROUP_THREAD) {
        json_writer_text(page, "name", report->trace->threads[row->group].name);
        put_identity(page, report->trace, row->group);
    } else {
        json_writer_text(page, "name", report_row_name(report, row->group, name));
    }
    if (report->groups.kind == CALL_GROUP_FUNCTION)
        put_function(page, call_groups_function(&report->groups, row->group));
    else if (report->groups.kind == CALL_GROUP_FILE || report->groups.kind == CALL_GROUP_LINE)
        put_source(page, &report->groups.groups[row->group]);
    put_statistics(page, report, row->statistics);
    json_writer_close(page, '}');
}

static void put_choices(struct json_writer *page, const struct trace_report *report, enum report_order order)
{
    json_writer_text(page, "by", report_kind_name(report->groups.kind));
    json_writer_text(page, "sort", report_order_name(order));
    json_writer_text(page, "filter", report->groups.filter);
}

static int put_rows(struct json_writer *page, struct trace_report *report, const struct report_json *json)
{
    struct report_rows rows;
    int result = report_rows_rank(&rows, report, json->order);

    if (result != 0)
        return result;
    put_choices(page, report, json->order);
    json_writer_count(page, "row_count", rows.count);
    json_writer_open(page, "rows", '[');
    for (size_t i = 0; i < rows.count && i < json->limit; i++)
        put_row(page, report, &rows.rows[i]);
    json_writer_close(page, ']');
    report_rows_free(&rows);
    return 0;
}

/* ---- details, crashes, problems ---------------------------------------------------------------------------------- */

static void put_detail(struct json_writer *page, struct report_details *details, size_t process,
                       const struct detail_count *count)
{
    double average = count->returns == 0 ? 0 : (double)count->total / (double)count->returns;
    struct report_detail detail;

    report_detail_write(details, process, count, &detail);
    json_writer_open(page, NULL, '{');
    json_writer_count(page, "pid", details->report->trace->processes[process].pid);
    json_writer_text(page, "name", detail.name);
    json_writer_address(page, "address", count->address);
    json_writer_count(page, "calls", count->calls);
    json_writer_count(page, "returns", count->returns);
    json_writer_number(page, "min_ns", (double)count->shortest * details->tick_ns);
    json_writer_number(page, "avg_ns", average * details->tick_ns);
    json_writer_number(page, "max_ns", (double)count->longest * details->tick_ns);
    json_writer_text(page, "last_arguments", detail.arguments);
    json_writer_text(page, "last_result", detail.result);
    json_writer_close(page, '}');
}

static int put_details(struct json_writer *page, const struct trace_report *report, struct function_names *names)
{
    struct report_details details;
    int result = report_details_init(&details, report, names);

    if (result != 0)
        return result;
    json_writer_open(page, "details", '[');
    for (size_t i = 0; i < report->trace->process_count; i++)
        for (size_t j = 0; j < report->processes[i].details.count; j++)
            put_detail(page, &details, i, &report->processes[i].details.counts[j]);
    json_writer_close(page, ']');
    report_details_deinit(&details);
    return 0;
}

static void put_system_calls(struct json_writer *page, const struct trace_report *report)
{
    double tick_ns = view_clock_tick_ns(&report->trace->clock);
    char name[SYSTEM_CALL_NAME_BYTES];

    json_writer_open(page, "system_calls", '[');
    for (size_t i = 0; i < report->system_calls.count; i++) {
        const struct system_call_sum *sum = &report->system_calls.counts[i];

        json_writer_open(page, NULL, '{');
        json_writer_text(page, "name", system_call_name(sum->number, name));
        json_writer_count(page, "calls", sum->calls);
        json_writer_count(page, "errors", sum->errors);
        json_writer_count(page, "total_ns", (uint64_t)((double)sum->total * tick_ns));
        json_writer_count(page, "shortest_ns", (uint64_t)((double)sum->shortest * tick_ns));
        json_writer_count(page, "longest_ns", (uint64_t)((double)sum->longest * tick_ns));
        json_writer_close(page, '}');
    }
    json_writer_close(page, ']');
}

static void put_probe(struct json_writer *page, const struct trace_report *report, size_t process,
                      const struct probe_count *count)
{
    const struct manifest_probe *probe = probe_names_find(report->trace, process, count->probe);
    char arguments[DETAIL_TEXT_BYTES];

    report_probe_write_arguments(count, arguments);
    json_writer_open(page, NULL, '{');
    json_writer_count(page, "pid", report->trace->processes[process].pid);
    json_writer_text(page, "provider", probe == NULL ? "" : probe->provider);
    json_writer_text(page, "name", probe == NULL ? "" : probe->name);
    json_writer_count(page, "times", count->times);
    json_writer_count(page, "first_ns", view_trace_ns(report->trace, count->first_time));
    json_writer_count(page, "last_ns", view_trace_ns(report->trace, count->last_time));
    json_writer_text(page, "last_arguments", arguments);
    json_writer_close(page, '}');
}

static void put_probes(struct json_writer *page, const struct trace_report *report)
{
    json_writer_open(page, "probes", '[');
    for (size_t i = 0; i < report->trace->process_count; i++)
        for (size_t j = 0; j < report->processes[i].probes.count; j++)
            put_probe(page, report, i, &report->processes[i].probes.counts[j]);
    json_writer_close(page, ']');
}

/* Nothing, if there are none. */
static void put_kernel_sources(struct json_writer *page, const struct view_trace *trace)
{
    struct kernel_totals totals;
    double seconds;

    if (!kernel_totals_read(&totals, trace))
        return;
    seconds = kernel_totals_seconds(&totals, trace);
    json_writer_open(page, "kernel_sources", '[');
    for (uint32_t i = 1; i < totals.sources.source_count; i++) {
        const struct kernel_source *source = &totals.sources.sources[i];

        json_writer_open(page, NULL, '{');
        json_writer_text(page, "spec", source->spec);
        json_writer_text(page, "name", source->name);
        json_writer_count(page, "events", totals.counts[i]);
        json_writer_number(page, "per_second", seconds > 0 ? (double)totals.counts[i] / seconds : 0.0);
        json_writer_count(page, "lost", source->lost_count);
        json_writer_close(page, '}');
    }
    json_writer_close(page, ']');
    kernel_totals_free(&totals);
}

/* Nothing, if there are none. */
static int put_samples(struct json_writer *page, struct trace_report *report, size_t limit)
{
    const struct sample_choice all = {.thread_count = 0};
    struct sample_trees trees;
    int result = sample_trees_read(&trees, &report->groups.functions, &all, NULL);

    if (result != 0)
        return result == -ENOMEM ? result : 0;
    result = sample_json_put_functions(page, &trees, limit);
    sample_trees_deinit(&trees);
    return result;
}

/* Nothing, if it was not recorded. */
static int put_sched(struct json_writer *page, const struct view_trace *trace)
{
    double tick_ns = view_clock_tick_ns(&trace->clock);
    struct sched_times times;
    int result = sched_times_read(&times, trace);

    if (result != 0)
        return result == -ENOMEM ? result : 0;
    json_writer_open(page, "sched", '[');
    for (size_t i = 0; i < times.count; i++) {
        const struct sched_thread *thread = &times.threads[i];

        json_writer_open(page, NULL, '{');
        json_writer_count(page, "tid", thread->tid);
        json_writer_text(page, "name", thread->name);
        json_writer_number(page, "running_ns", (double)thread->ticks[SCHED_RUNNING] * tick_ns);
        json_writer_number(page, "waiting_ns", (double)thread->ticks[SCHED_WAITING] * tick_ns);
        json_writer_number(page, "blocked_ns", (double)thread->ticks[SCHED_BLOCKED] * tick_ns);
        json_writer_count(page, "runs", thread->run_count);
        json_writer_count(page, "pushed", thread->pushed_count);
        json_writer_close(page, '}');
    }
    json_writer_close(page, ']');
    sched_times_free(&times);
    return 0;
}

static void put_signal(struct json_writer *page, const struct report_place *place, const struct crash_signal *signal)
{
    uint64_t pc = signal->register_count < 2 ? 0 : signal->registers[signal->register_count - 2];
    char text[TEXT_BYTES];

    json_writer_open(page, NULL, '{');
    json_writer_signed(page, "signal", signal->signal);
    json_writer_count(page, "tid", signal->tid);
    json_writer_text(page, "place",
                     signal->is_known ? report_place_write(place, pc, signal->time, signal->time, text, sizeof(text))
                                      : "");
    json_writer_address(page, "address", signal->address);
    json_writer_open(page, "registers", '{');
    for (uint32_t i = 0; i < signal->register_count; i++)
        json_writer_address(page, report_register_name(signal, i), signal->registers[i]);
    json_writer_close(page, '}');
    json_writer_close(page, '}');
}

static void put_last_calls(struct json_writer *page, const struct report_place *place, size_t thread)
{
    const struct thread_tally *tally = &place->report->threads[thread];
    uint64_t count = tally->last_count < LAST_CALLS_MAX ? tally->last_count : LAST_CALLS_MAX;
    char text[TEXT_BYTES];

    json_writer_open(page, NULL, '{');
    json_writer_count(page, "tid", place->report->trace->threads[thread].tid);
    json_writer_open(page, "events", '[');
    for (uint64_t i = tally->last_count - count; i < tally->last_count; i++) {
        const struct last_call *call = &tally->last_calls[i % LAST_CALLS_MAX];
        bool is_hooked = call->event.kind & (GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE);

        json_writer_open(page, NULL, '{');
        json_writer_text(page, "kind", event_name((unsigned)__builtin_ctz(call->event.kind)));
        json_writer_signed(page, "depth", call->event.depth);
        json_writer_text(page, "place",
                         report_place_write(place, is_hooked ? call->event.location : call->event.target,
                                            call->first_time, call->last_time, text, sizeof(text)));
        json_writer_close(page, '}');
    }
    json_writer_close(page, ']');
    json_writer_close(page, '}');
}

static void put_crash(struct json_writer *page, const struct report_place *place)
{
    const struct trace_report *report = place->report;
    struct crash_signal signal;
    const uint8_t *stack;

    json_writer_open(page, NULL, '{');
    json_writer_count(page, "pid", report->trace->processes[place->process].pid);
    json_writer_count(page, "image", report->trace->processes[place->process].image);
    json_writer_open(page, "signals", '[');
    for (size_t at = 0; trace_crash_next_signal(&report->processes[place->process].crash, &at, &signal, &stack);)
        put_signal(page, place, &signal);
    json_writer_close(page, ']');
    json_writer_open(page, "last_calls", '[');
    for (size_t i = 0; i < report->trace->thread_count; i++)
        if (report->trace->threads[i].process == place->process)
            put_last_calls(page, place, i);
    json_writer_close(page, ']');
    json_writer_close(page, '}');
}

static void put_problem(struct json_writer *page, const struct gait_error *err)
{
    if (err->text[0] != '\0')
        json_writer_text(page, NULL, err->text);
}

static void put_crashes_and_problems(struct json_writer *page, const struct trace_report *report,
                                     struct function_names *names)
{
    json_writer_open(page, "crashes", '[');
    for (size_t i = 0; i < report->trace->process_count; i++)
        if (report_has_crash(report, i))
            put_crash(page, &(struct report_place){report, i, names});
    json_writer_close(page, ']');
    json_writer_open(page, "problems", '[');
    for (size_t i = 0; i < report->trace->thread_count; i++)
        put_problem(page, &report->threads[i].err);
    for (size_t i = 0; i < report->trace->process_count; i++)
        put_problem(page, &report->processes[i].err);
    json_writer_close(page, ']');
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

int report_json_write(const struct report_json *json, struct trace_report *report, struct function_names *names)
{
    struct json_writer page = {.stream = json->stream};
    int result;

    json_writer_open(&page, NULL, '{');
    json_writer_text(&page, "format", "gait report");
    json_writer_count(&page, "version", VERSION);
    put_recording(&page, json->path, report);
    put_triggers(&page, report->trace);
    put_windows(&page, report->trace);
    put_threads(&page, report);
    result = put_rows(&page, report, json);
    if (result == 0)
        result = put_details(&page, report, names);
    put_probes(&page, report);
    if (result == 0)
        put_system_calls(&page, report);
    put_kernel_sources(&page, report->trace);
    if (result == 0)
        result = put_samples(&page, report, json->limit);
    if (result == 0)
        result = put_sched(&page, report->trace);
    put_crashes_and_problems(&page, report, names);
    json_writer_close(&page, '}');
    return result;
}

static void put_side(struct json_writer *page, const char *name, const struct trace_report *report,
                     const struct call_statistics *statistics)
{
    if (statistics->calls == 0) {
        json_writer_null(page, name);
        return;
    }
    json_writer_open(page, name, '{');
    put_statistics(page, report, statistics);
    json_writer_close(page, '}');
}

void report_json_write_diff(const struct report_json *json, const struct report_diff *diff)
{
    struct json_writer page = {.stream = json->stream};

    json_writer_open(&page, NULL, '{');
    json_writer_text(&page, "format", "gait report diff");
    json_writer_count(&page, "version", VERSION);
    json_writer_open(&page, "before", '{');
    put_recording(&page, json->path, diff->before);
    json_writer_close(&page, '}');
    json_writer_open(&page, "after", '{');
    put_recording(&page, json->other_path, diff->after);
    json_writer_close(&page, '}');
    put_choices(&page, diff->before, diff->order);
    json_writer_count(&page, "row_count", diff->count);
    json_writer_open(&page, "rows", '[');
    for (size_t i = 0; i < diff->count && i < json->limit; i++) {
        const struct report_change *change = &diff->changes[i];

        json_writer_open(&page, NULL, '{');
        json_writer_text(&page, "name", change->name);
        json_writer_text(&page, "module", change->module);
        json_writer_number(&page, "difference", change->difference);
        put_side(&page, "before", diff->before, &change->before);
        put_side(&page, "after", diff->after, &change->after);
        json_writer_close(&page, '}');
    }
    json_writer_close(&page, ']');
    json_writer_close(&page, '}');
}
