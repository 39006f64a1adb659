/* SPDX-License-Identifier: MIT */
/* What is particular to recordings: their folder, what is said of them, how they end. */
#define _GNU_SOURCE
#include "cli/recorder.h"

#include "cli/closing_words.h"
#include "cli/function_lookup.h"
#include "cli/held_start.h"
#include "cli/kernel_probes.h"
#include "cli/known_functions.h"
#include "cli/later_code.h"
#include "cli/options/record_patterns.h"
#include "cli/screens/progress.h"
#include "hosted/error_text.h"
#include "hosted/system_clock.h"
#include "inject/limits.h"
#include "inject/native_run.h"
#include "inject/stop_signals.h"
#include "record/agent_calls.h"
#include "record/family.h"
#include "record/recording.h"
#include "record/recording_control.h"
#include "symbolize/kept_trace.h"
#include "symbolize/program_files.h"
#include "trace/foreign_roots.h"
#include "trace/trace_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a shell adds to the number of the signal that ended a program. */
#define SIGNAL_STATUS 128

/* Many programs have ended by then; of what is killed before it is only known that it began. */
#define MANIFEST_DELAY_MS 10

/* One recording, while it lasts. */
struct recorder {
    const struct recorder_job *job;
    struct recording recording;
    struct family family;
    struct recording_control control;
    struct progress progress;
    struct kernel_probes kernel;
    struct foreign_roots roots; /* whose files names are read of */
    bool is_triggered;          /* somebody said so */
    pid_t begun;                /* the program runs, as this process; 0: not yet */
    bool is_misused;            /* what was asked for can not be */
    struct function_lookup lookup;
    int killed_by; /* the signal that ended the program before it was recorded; 0: none */
    uint64_t end_ms;
};

/* What the agent of each program gets. Large. */
static struct agent_options told_options;

static uint64_t trigger_signals(const struct record_options *options)
{
    uint64_t signals = 0;

    for (size_t i = 0; i < options->trigger_count; i++)
        if (options->triggers[i].kind == TRIGGER_SPEC_SIGNAL)
            signals |= 1ull << (options->triggers[i].signal - 1);
    return signals;
}

void recorder_agent_options(const struct record_options *options, int overflow, struct agent_options *agent_out)
{
    agent_options_clear(agent_out);
    agent_out->events = options->events;
    agent_out->with_times = options->with_times;
    agent_out->new_threads = 1;
    agent_out->children = options->with_children;
    agent_out->overflow = (uint32_t)(options->overflow == -1 ? overflow : options->overflow);
    agent_out->buffer_bytes = options->buffer_bytes;
    agent_out->trigger_signals = trigger_signals(options);
    agent_out->stack_bytes = options->stack_bytes;
    agent_out->string_bytes = options->string_bytes;
    agent_out->stack_frames = options->stacks.count == 0 ? 0 : options->stack_depth;
    if (options->records_syscalls)
        agent_calls_choose(agent_out, &options->syscalls, options->string_bytes);
    record_patterns_get(options, agent_out);
}

static struct recording_options recording_options_of(struct recorder *recorder)
{
    const struct recorder_job *job = recorder->job;
    const struct record_options *options = job->options;

    return (struct recording_options){
        .output = options->output,
        .program = job->program,
        .manifest_delay_ms = job->is_child && job->held == NULL ? MANIFEST_DELAY_MS : 0,
        .arguments = options->rest,
        .events = options->events,
        .with_times = options->with_times,
        .compress = options->compress,
        .rotation = options->rotation,
        .sync = options->sync,
        .flight =
            {
                .keeps_index = options->is_flight,
                /* With nothing to wait for, all details are wanted. */
                .keeps_detail = options->is_flight || options->trigger_count != 0,
                .pre_roll_ns = options->pre_roll_ms * 1000000,
                .post_roll_ns = options->post_roll_ms * 1000000,
            },
        .triggers = options->triggers,
        .trigger_count = options->trigger_count,
        .roots = &recorder->roots,
    };
}

static void say(void *context, const char *text)
{
    const struct record_options *options = context;

    if (!options->is_quiet)
        fprintf(stderr, "gait: %s\n", text);
}

static void report(void *context, const char *text)
{
    const struct recorder *recorder = context;

    say((void *)(uintptr_t)recorder->job->options, text);
}

static void let_go(struct recorder *recorder)
{
    if (recorder->job->held != NULL)
        tracee_detach(recorder->job->held);
}

static void trigger(void *context, const char *note)
{
    struct recorder *recorder = context;

    const struct flight_event event = {
        .kind = trigger_spec_kind_name(TRIGGER_SPEC_MANUAL),
        .text = note,
        .pid = (uint32_t)recorder->family.first,
    };
    struct gait_error err;

    recorder->is_triggered = true;
    if (recording_trigger(&recorder->recording, &event, &err) != 0)
        say((void *)(uintptr_t)recorder->job->options, err.text);
    progress_say(&recorder->progress, "gait trigger was called%s%s", note[0] == '\0' ? "" : ": ", note);
}

/* Who cannot be talked to is recorded all the same. */
static void listen_to_others(struct recorder *recorder)
{
    if (recording_control_begin(&recorder->control, &recorder->recording) != 0)
        say((void *)(uintptr_t)recorder->job->options,
            "gait stats, trigger and detach cannot reach this recording: it has no control socket");
    recorder->control.trigger = trigger;
    recorder->control.context = recorder;
}

static void say_begun(struct recorder *recorder, const struct target *target)
{
    bool is_hooked = recorder->job->options->is_hooked;
    unsigned count = is_hooked ? target->hooked_count : target->followed_count;

    progress_say(&recorder->progress, "process %d has the agent in it, %llu bytes at 0x%llx; %u of its %s %s",
                 (int)target->pid, (unsigned long long)target->agent.size_bytes,
                 (unsigned long long)target->agent.start, count, is_hooked ? "functions" : "threads",
                 is_hooked    ? "are hooked"
                 : count == 1 ? "is followed"
                              : "are followed");
}

/* Programs whose code is in a library, and scripts, are not what all of the program's functions are hooked for. */
static void say_launcher(const struct recorder_job *job, const struct program_files *files)
{
    char wanted[128], text[400];

    if (!job->options->hooks_all || !later_code_of_launcher(files, wanted, sizeof(wanted)))
        return;
    snprintf(text, sizeof(text), "%s has little code of its own; --hook '%s' hooks the library that has it",
             strrchr(files->paths[0], '/') + 1, wanted);
    say((void *)(uintptr_t)job->options, text);
}

/*
 * What is known of the program that is to run, or of the process that does. Of one that is not found, who starts it
 * says more.
 */
static int find_known(struct recorder *recorder, struct agent_options *agent, struct gait_error *err)
{
    const struct recorder_job *job = recorder->job;
    struct program_files files;
    int result = job->is_child ? program_files_of_program(job->options->rest[0], &files)
                               : program_files_of_process(job->pid, &files);

    if (result != 0)
        return 0;
    recorder->lookup = (struct function_lookup){.options = job->options,
                                                .files = &files,
                                                .pid = job->pid,
                                                .say = say,
                                                .context = (void *)(uintptr_t)job->options};
    result = function_lookup_run(&recorder->lookup, agent, err);
    recorder->lookup.files = NULL;
    if (result == 0 && job->options->details.count != 0)
        known_functions_gather(&files, agent);
    if (result == 0)
        say_launcher(job, &files);
    program_files_deinit(&files);
    return result;
}

/* Of a program that a process executes now, what the patterns mean is looked up as it was for the first. */
static void look_up_executed(void *context, pid_t pid)
{
    struct recorder *recorder = context;
    struct function_lookup lookup = {.options = recorder->job->options, .is_repeated = true};
    struct program_files files;
    struct gait_error err;
    char path[64];

    if (!recorder->lookup.is_for_each)
        return;
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    if (program_files_of_program(path, &files) != 0)
        return;
    recorder_agent_options(recorder->job->options, recorder->job->overflow, &told_options);
    lookup.files = &files;
    (void)!function_lookup_run(&lookup, &told_options, &err);
    program_files_deinit(&files);
}

/* A recording without the kernel's events is better than none, if that is said. */
static void begin_kernel(struct recorder *recorder)
{
    const struct kernel_probes_target target = {
        .pid = recorder->family.first,
        .folder = recorder->recording.folder,
        .compress = recorder->job->options->compress,
    };
    struct gait_error err;

    if (kernel_probes_begin(&recorder->kernel, &target, &err) != 0)
        say((void *)(uintptr_t)recorder->job->options, err.text);
}

/* Makes the folder, and begins with the process. */
static int begin(struct recorder *recorder, struct gait_error *err)
{
    const struct record_options *options = recorder->job->options;
    const struct recording_options wanted = recording_options_of(recorder);
    struct family_options family = {
        .agent = &told_options,
        .is_child = recorder->job->is_child,
        .executed = look_up_executed,
        .report = report,
        .context = recorder,
        .roots = &recorder->roots,
    };
    struct target target = {.killed_by = 0};
    int result;

    /* Before there is a folder: it may take a while, in which Ctrl-C leaves nothing behind. */
    recorder_agent_options(options, recorder->job->overflow, &told_options);
    result = find_known(recorder, &told_options, err);
    if (result != 0) {
        recorder->is_misused = result == -ENOENT || result == -E2BIG;
        return result;
    }
    /* A process is let go whatever comes from now on; a program has yet to inherit what is ignored. */
    if (!recorder->job->is_child)
        stop_signals_take();
    result = limits_check_own(err);
    if (result == 0)
        result = recording_create(&wanted, &recorder->recording, err);
    if (result != 0)
        return result;
    progress_say(&recorder->progress, "the trace is %s", recorder->recording.path);
    result = recorder->job->begin(recorder->job, &told_options, &target, err);
    if (result != 0) {
        recorder->killed_by = target.killed_by;
        if (target.killed_by != 0)
            (void)error_set(err, result, "%s was ended by signal %d before its first instruction",
                            recorder->job->program, target.killed_by);
        recording_discard(&recorder->recording);
        return result;
    }
    say_begun(recorder, &target);
    stop_signals_take();
    /* The program, which has begun already, keeps the limits that it had. */
    limits_raise_own();
    recorder->begun = target.pid;
    result = family_begin(&recorder->family, &recorder->recording.drain, &family, &target, err);
    if (result != 0) {
        struct gait_error why;

        let_go(recorder);
        (void)!target_detach(&target, &why);
        recording_discard(&recorder->recording);
        return result;
    }
    begin_kernel(recorder);
    listen_to_others(recorder);
    return 0;
}

/* ---- waiting for a word ------------------------------------------------------------------------------------------ */

static bool is_wait_over(void *context)
{
    struct recorder *recorder = context;
    siginfo_t ended = {.si_pid = 0};

    recording_control_serve(&recorder->control);
    if (recorder->is_triggered || recorder->control.is_to_end || stop_signals_were_sent() || stop_signals_were_typed())
        return true;
    /* It may be killed while it waits. */
    return waitid(P_PID, (id_t)recorder->family.first, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0;
}

/* Enter, or gait trigger; or whatever ends the recording, or the program. */
static void wait_for_word(struct recorder *recorder)
{
    const struct held_start held = {
        .terminal = held_start_terminal(),
        .other = recording_control_fd(&recorder->control),
        .is_over = is_wait_over,
        .context = recorder,
    };
    char text[200];

    snprintf(text, sizeof(text), "process %d waits before its first instruction; %sgait trigger %d lets it run",
             (int)recorder->family.first, held.terminal == -1 ? "" : "Enter, or ", (int)recorder->family.first);
    say((void *)(uintptr_t)recorder->job->options, text);
    held_start_wait(&held);
    if (held.terminal != -1)
        close(held.terminal);
    let_go(recorder);
    progress_say(&recorder->progress, "process %d runs", (int)recorder->family.first);
}

/* ---- recording --------------------------------------------------------------------------------------------------- */

static void serve(void *context)
{
    struct recorder *recorder = context;

    recording_control_serve(&recorder->control);
}

static int look_at_others(void *context, struct gait_error *err)
{
    struct recorder *recorder = context;
    int result = kernel_probes_step(&recorder->kernel, err);

    if (result == 0)
        progress_look(&recorder->progress, &recorder->recording);
    return result;
}

static bool is_to_end(void *context)
{
    const struct recorder *recorder = context;

    return recorder->control.is_to_end || system_clock_ms() >= recorder->end_ms;
}

static enum family_run_end record(struct recorder *recorder, struct gait_error *err)
{
    unsigned seconds = recorder->job->options->duration_seconds;
    const struct family_run_options run = {
        .typed_is_for_first = true,
        .before = serve,
        .behind = look_at_others,
        .is_to_end = is_to_end,
        .context = recorder,
    };

    if (recorder->job->held != NULL && recorder->job->options->waits)
        wait_for_word(recorder);
    else
        let_go(recorder);
    recorder->end_ms = seconds == 0 ? UINT64_MAX : system_clock_ms() + (uint64_t)seconds * 1000;
    return family_run(&recorder->family, &run, err);
}

/* Processes that are left go on without us. */
static enum command_status leave(struct recorder *recorder, enum family_run_end end, struct gait_error *err)
{
    struct gait_error why = {.code = 0};
    enum command_status status = end == FAMILY_FAILED ? COMMAND_FAILED : COMMAND_DONE;

    if (end == FAMILY_OVER) {
        recording_control_end(&recorder->control, 0, NULL);
        return status;
    }
    if (end == FAMILY_FAILED && recorder->job->is_child)
        fprintf(stderr, "gait: %s; the program goes on\n", err->text);
    progress_say(&recorder->progress, "taking the agent out of the processes that are left");
    if (family_detach(&recorder->family, &why) != 0) {
        status = COMMAND_FAILED;
        if (recorder->job->is_child)
            fprintf(stderr, "gait: %s\n", why.text);
        else if (end != FAMILY_FAILED)
            *err = why;
    }
    recording_control_end(&recorder->control, -why.code, why.text);
    /* Of what cannot be written it is counted how much there was. */
    if (end == FAMILY_FAILED)
        (void)!ring_drain_take(&recorder->recording.drain, &why);
    else if (ring_drain_take(&recorder->recording.drain, err) != 0)
        status = COMMAND_FAILED;
    return status;
}

const char *recorder_how(enum family_run_end end, int status, const struct gait_error *err)
{
    if (end == FAMILY_STOPPED)
        return "detached";
    if (end == FAMILY_FAILED)
        return err->code == ENOSPC || err->code == EDQUOT ? "disk full" : "interrupted";
    if (status == -1)
        return "target gone";
    return WIFSIGNALED(status) ? "signal" : "exit";
}

/* Whether there is an address in the trace that somebody may want the name of: of an event, or of where it ended. */
static bool has_addresses(const struct recording *recording, uint64_t left_count)
{
    return recording->written.record_count > 0 || recording->has_crash || left_count > 0;
}

/* What was recorded is there without them, so that this fails is no failure. How many bytes they take. */
static uint64_t keep_names(struct recorder *recorder, uint64_t left_count)
{
    const struct record_options *options = recorder->job->options;
    struct kept_outcome outcome = {.kept_count = 0};
    struct trace_files files;
    struct gait_error err;
    uint64_t began_ms = system_clock_ms();
    char text[GAIT_ERROR_TEXT_BYTES + 128];
    bool is_wanted = has_addresses(&recorder->recording, left_count);
    int result;

    if (!is_wanted && options->sync.when == DISK_SYNC_NEVER)
        return 0;
    result = trace_files_open(&files, recorder->recording.path, &err);
    if (result == 0) {
        if (is_wanted)
            result = kept_trace_write(&files, files.folder, &recorder->roots, &outcome, &err);
        if (options->sync.when != DISK_SYNC_NEVER)
            (void)syncfs(files.folder);
        trace_files_close(&files);
    }
    if (result == 0) {
        progress_say(&recorder->progress, "kept %zu names of functions, of %zu files, in %lld ms; %zu files have none",
                     outcome.function_count, outcome.kept_count, (long long)(system_clock_ms() - began_ms),
                     outcome.left_count);
        return outcome.file_bytes;
    }
    snprintf(text, sizeof(text), "%s; what it lacks is looked for in the programs and libraries themselves", err.text);
    say((void *)(uintptr_t)options, text);
    return outcome.file_bytes;
}

/* Whether there was something to record, of all that was asked for. */
static bool is_anything_there(const struct record_options *options, uint64_t armed)
{
    uint64_t asked = record_patterns_asked(options);

    return asked == 0 || (asked & armed) != 0 || options->hooks_all || options->records_syscalls ||
           options->kernel_probes.count != 0 || options->with_sched || (options->has_events && options->events != 0);
}

/* Ends the recording and says what was recorded. */
static enum command_status finish(struct recorder *recorder, const char *how, bool is_cut, struct gait_error *err)
{
    struct recording *recording = &recorder->recording;
    struct recording_waits waits = recording_waited(recording);
    struct closing_words words = {
        .path = recording->path,
        .duration_ns = system_clock_ns(CLOCK_MONOTONIC) - recording->manifest.clocks[0].monotonic_ns,
        .left_count = recording_left(recording),
        .wait_count = waits.count,
        .waited_ns = waits.nanoseconds,
    };
    uint64_t matched = recording_matched(recording), unresolved = recording_unresolved(recording) & ~matched;
    bool is_there = is_anything_there(recorder->job->options, recording_armed(recording)) &&
                    (recorder->lookup.awaited & ~(matched | unresolved)) == 0;
    uint32_t deleted = manifest_deleted_pieces(&recording->manifest);
    uint64_t kernel_count = kernel_probes_end(&recorder->kernel);
    int result = recording_end(recording, how, err);

    if (kernel_count != 0)
        progress_say(&recorder->progress, "%llu events of the kernel", (unsigned long long)kernel_count);
    words.event_count = recording->written.record_count;
    words.lost_bytes = recording->lost_bytes;
    words.unwritten_bytes = recording->unwritten_bytes;
    words.unwritten_count = recording->unwritten_count;
    words.unwritten = recording->unwritten;
    words.unhooked_count = recording->unhooked_count;
    words.unhooked = recording->unhooked;
    words.has_more_unhooked = recording->has_more_unhooked;
    words.is_cut = is_cut || result != 0;
    words.file_bytes = recording_file_bytes(recording);
    if (recorder->job->options->keeps_names)
        words.file_bytes += keep_names(recorder, words.left_count);
    words.deleted_pieces = deleted;
    if (recorder->job->options->is_verbose)
        closing_words_say_waits(&words, stderr);
    if (!recorder->job->options->is_quiet)
        closing_words_say(&words, stderr);
    record_patterns_report_unresolved(recorder->job->options, unresolved, say,
                                      (void *)(uintptr_t)recorder->job->options);
    record_patterns_report_unmatched(recorder->job->options, matched | unresolved, say,
                                     (void *)(uintptr_t)recorder->job->options);
    if (result != 0)
        return COMMAND_FAILED;
    return is_there ? COMMAND_DONE : COMMAND_NOT_THERE;
}

/* The exit status that a shell would give. */
static enum command_status status_of(int status)
{
    return (enum command_status)(WIFSIGNALED(status) ? SIGNAL_STATUS + WTERMSIG(status) : WEXITSTATUS(status));
}

static enum command_status record_until_end(struct recorder *recorder, struct gait_error *err)
{
    enum family_run_end end = record(recorder, err);
    enum command_status status = leave(recorder, end, err), finished;
    int first_status = -1;
    struct gait_error why;

    family_wait_for_first(&recorder->family);
    (void)family_first_has_ended(&recorder->family, &first_status);
    finished = finish(recorder, recorder_how(end, first_status, err), end == FAMILY_FAILED, &why);
    if (finished == COMMAND_FAILED) {
        status = COMMAND_FAILED;
        if (end != FAMILY_FAILED)
            *err = why;
        if (end != FAMILY_FAILED && recorder->job->is_child)
            fprintf(stderr, "gait: %s\n", why.text);
    }
    if (!recorder->job->is_child && status != COMMAND_DONE)
        return status;
    /* It is said by now, and the status is that of the program. */
    err->text[0] = '\0';
    if (finished == COMMAND_NOT_THERE)
        return COMMAND_NOT_THERE;
    return recorder->job->is_child ? status_of(first_status) : COMMAND_DONE;
}

/*
 * A program for which there is too little of something runs all the same, as it does without us. The status says that
 * nothing was recorded.
 */
static enum command_status run_unrecorded(const struct recorder *recorder, struct gait_error *err)
{
    const struct recorder_job *job = recorder->job;
    int status, result;

    fprintf(stderr, "gait: %s; %s runs without being recorded\n", err->text, job->program);
    result =
        recorder->begun != 0 ? native_run_wait(recorder->begun, &status) : native_run(job->options->rest, &status, err);
    if (result != 0)
        return COMMAND_FAILED;
    err->text[0] = '\0';
    return COMMAND_NOT_THERE;
}

enum command_status recorder_run(const struct command_call *call, const struct recorder_job *job)
{
    struct recorder recorder = {.job = job};
    enum command_status status = COMMAND_FAILED;

    int result =
        kernel_probes_find(&recorder.kernel, &job->options->kernel_probes, job->options->with_sched, call->error);

    if (result != 0)
        return result == -EINVAL || result == -ENOENT ? COMMAND_MISUSED : COMMAND_FAILED;
    progress_begin(&recorder.progress, stderr, job->options->is_verbose);
    if (begin(&recorder, call->error) == 0)
        status = record_until_end(&recorder, call->error);
    else if (recorder.is_misused)
        status = COMMAND_MISUSED;
    else if (recorder.killed_by != 0 && job->is_child)
        status = (enum command_status)(SIGNAL_STATUS + recorder.killed_by);
    else if (job->is_child && limits_is_lack(-call->error->code))
        status = run_unrecorded(&recorder, call->error);
    family_end(&recorder.family);
    progress_end(&recorder.progress);
    (void)kernel_probes_end(&recorder.kernel);
    free(recorder.recording.path);
    foreign_roots_deinit(&recorder.roots);
    return status;
}
