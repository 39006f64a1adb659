/* SPDX-License-Identifier: MIT */
/* gait syscalls: what a program asks of the kernel, as strace writes it. */
#define _GNU_SOURCE
#include "cli/command.h"

#include "cli/options/syscalls_options.h"
#include "cli/screens/screen.h"
#include "gait/version.h"
#include "hosted/error_text.h"
#include "hosted/system_clock.h"
#include "report/syscalls_json.h"
#include "syscalls/system_call_stack.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define FLUSH_MS 200

extern const struct command command_syscalls;

struct syscalls_output {
    const struct syscalls_options *options;
    struct call_output *output;
    struct syscalls_json *json;
    struct system_call_counts *counts;
    uint64_t flushed_ms;
};

/* Whoever looks at the file meanwhile sees what was written a moment ago, if not at once. */
static void flush_at_times(struct syscalls_output *listening)
{
    uint64_t now_ms = system_clock_ns(CLOCK_MONOTONIC_COARSE) / 1000000;

    if (now_ms - listening->flushed_ms < FLUSH_MS)
        return;
    call_output_flush(listening->output);
    listening->flushed_ms = now_ms;
}

static void hear(void *context, const struct system_call_event *event)
{
    struct syscalls_output *listening = context;
    bool is_shown = system_call_filter_shows(&listening->options->lines.filter, event);

    if (listening->counts != NULL && is_shown)
        system_call_counts_add(listening->counts, event);
    if (listening->options->only_counts)
        return;
    if (!listening->options->is_json)
        call_output_put(listening->output, event);
    else if (is_shown || event->kind == SYSTEM_CALL_EXITED)
        syscalls_json_put(listening->json, event);
    flush_at_times(listening);
}

static bool picks(void *context, const struct system_call_event *event)
{
    const struct syscalls_output *listening = context;

    return path_choice_picks(&listening->options->paths, event);
}

static void say(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "gait: %s\n", text);
}

static struct system_call_request request_of(const struct syscalls_options *options, struct syscalls_output *listening)
{
    bool has_times = options->lines.times != SYSTEM_CALL_TIMES_NONE || options->lines.is_relative;

    return (struct system_call_request){
        .program = options->program,
        .pids = options->pids,
        .pid_count = options->pid_count,
        .follows = options->follows,
        .set = &options->set,
        .injections = &options->injections,
        .has_stacks = options->has_stacks,
        .string_bytes = options->lines.text.string_bytes,
        .wants_cpu = listening->counts != NULL && !options->table.is_wall_clock,
        .wants_beginnings = options->follows && has_times && !options->only_counts,
        .wants_descriptors = options->fd_details != 0 && !options->only_counts,
        .detaches_at_exec = options->detaches_at_exec,
        .daemon = (enum system_call_daemon)options->daemon,
        .interruptible = options->interruptible,
        .user = options->user,
        .variables = options->variables,
        .variable_count = options->variable_count,
        .picks = options->paths.count > 0 ? picks : NULL,
        .hear = hear,
        .say = say,
        .context = listening,
    };
}

static void put_counts(struct syscalls_output *listening)
{
    FILE *stream = call_output_stream(listening->output);

    if (listening->counts == NULL || stream == NULL)
        return;
    if (listening->options->is_json)
        system_call_counts_put_json(listening->counts, stream);
    else
        system_call_counts_put(listening->counts, stream);
}

static void tell_source(const struct syscalls_options *options)
{
    if (!options->is_debugging)
        return;
    fprintf(stderr, "gait: system calls are seen by '--via %s'", options->source->name);
    if (options->stopping != NULL)
        fprintf(stderr, ", which stops the program, as %s needs it", options->stopping);
    fputc('\n', stderr);
}

static enum command_status listen(const struct command_call *call, struct syscalls_output *listening, int *status_out)
{
    const struct syscalls_options *options = listening->options;
    struct system_call_request request;
    FILE *stream = call_output_stream(listening->output);
    enum command_status status = COMMAND_FAILED;

    if (options->only_counts || options->also_counts)
        listening->counts = calloc(1, sizeof(*listening->counts));
    listening->json = options->is_json ? syscalls_json_create(stream, &options->lines.text) : NULL;
    if ((options->is_json && listening->json == NULL) ||
        ((options->only_counts || options->also_counts) && listening->counts == NULL)) {
        (void)error_set(call->error, ENOMEM, "syscalls: there is no memory");
    } else {
        if (listening->counts != NULL)
            listening->counts->options = options->table;
        request = request_of(options, listening);
        tell_source(options);
        if (options->source->run(&request, status_out, call->error) == 0)
            status = COMMAND_DONE;
    }
    if (status == COMMAND_DONE) {
        call_output_detach(listening->output);
        put_counts(listening);
    }
    syscalls_json_destroy(listening->json);
    system_call_stack_forget();
    free(listening->counts);
    return status;
}

/* Opens what is written to, has it written, and closes it. */
static enum command_status watch(const struct command_call *call, struct syscalls_options *options, int *status_out)
{
    struct syscalls_output listening = {.options = options};
    struct gait_error why;
    enum command_status status;
    int closed;

    /* As strace: ids in a file are in a column of their own, on a terminal only where there are several. */
    options->lines.ids =
        options->follows && options->output.name != NULL ? SYSTEM_CALL_IDS_ALWAYS : SYSTEM_CALL_IDS_WHERE_SEVERAL;
    if (options->output.is_separate && options->output.name != NULL)
        options->lines.ids = SYSTEM_CALL_IDS_NEVER;
    options->lines.put_stack = options->has_stacks ? system_call_stack_put : NULL;
    if (call_output_open(&options->output, &options->lines, &listening.output, call->error) != 0)
        return COMMAND_FAILED;
    status = listen(call, &listening, status_out);
    closed = call_output_close(listening.output, &why);
    if (closed == 0 || status != COMMAND_DONE)
        return status;
    *call->error = why;
    return COMMAND_FAILED;
}

/* As the program ended: who has called us cannot tell the difference. No second core is left. */
static enum command_status end_likewise(int status)
{
    const struct rlimit none = {0, 0};
    sigset_t signals;

    if (!WIFSIGNALED(status))
        return (enum command_status)WEXITSTATUS(status);
    fflush(NULL);
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)signal(WTERMSIG(status), SIG_DFL);
    sigemptyset(&signals);
    sigaddset(&signals, WTERMSIG(status));
    (void)sigprocmask(SIG_UNBLOCK, &signals, NULL);
    (void)raise(WTERMSIG(status));
    return (enum command_status)(128 + WTERMSIG(status));
}

static enum command_status answer(const struct command_call *call, enum syscalls_request request)
{
    if (request == SYSCALLS_REQUEST_VERSION)
        screen_print(call->screen, "gait %s, which takes the options of strace 6.1\n", gait_version());
    else
        screen_print(call->screen, "usage: gait %s %s\n\n%s", command_syscalls.name, command_syscalls.arguments,
                     command_syscalls.details);
    return COMMAND_DONE;
}

static enum command_status run(const struct command_call *call)
{
    struct syscalls_options *options = malloc(sizeof(*options));
    enum command_status status = options == NULL ? COMMAND_FAILED : syscalls_options_parse(call, options);
    bool is_watched = status == COMMAND_DONE && options->request == SYSCALLS_REQUEST_WATCH;
    int ended = 0;

    if (is_watched)
        status = watch(call, options, &ended);
    else if (status == COMMAND_DONE)
        status = answer(call, options->request);
    if (options != NULL)
        syscalls_options_deinit(options);
    free(options);
    return status == COMMAND_DONE && is_watched ? end_likewise(ended) : status;
}

const struct command command_syscalls = {
    .name = "syscalls",
    .arguments = "[options] [--] PROGRAM [ARG...] | -p PID",
    .summary = "shows the system calls of a program, as strace does",
    .details = "Runs the program and writes each system call, with its arguments, result and error,\n"
               "and each signal to standard error, as strace does; ends with the program's status,\n"
               "or 128 + N if signal N ended it. Processes that are attached to go on as they were\n"
               "when Ctrl-C ends it.\n"
               "\n"
               "  -o FILE        write there\n"
               "  -f             follow threads and child processes\n"
               "  -p PID         attach to a process, with -f to all of its threads; several by commas\n"
               "  -e trace=SET   only these: names, classes (file, desc, network, process, signal, ipc,\n"
               "                 memory, %creds, %clock, %stat, %lstat, %fstat, %%stat, %statfs,\n"
               "                 %fstatfs, %%statfs, %pure), /REGEX/, all, none, by commas; ! before\n"
               "                 all of it: all others; ?NAME: if there is such a call\n"
               "  -e inject=SET:error=E|retval=N[:signal=S][:delay_enter=T][:delay_exit=T][:when=W]\n"
               "                 make these calls fail, return N, come with a signal or take longer; T\n"
               "                 in microseconds, or 5ms, 1s; W: which of a thread's: N, N+, N+STEP,\n"
               "                 N..M\n"
               "  -e fault=SET[:error=E][:when=W]   the same, with ENOSYS if E is not given\n"
               "  -c             only a table of calls, errors and times at the end; -C: also\n"
               "  -T             how long each call took\n"
               "  -t, -tt, -ttt  the time of day; with microseconds; seconds since 1970\n"
               "  -r             the time since the line before\n"
               "  -k             where each call was made from\n"
               "  -s N           show N bytes of strings (32)\n"
               "  -v             show structs whole\n"
               "  -y             show what descriptors are\n"
               "  -q             say nothing of exits\n"
               "  --json         an object a line\n"
               "  --via HOW      how calls are seen: inside, by an agent in the process, which stops\n"
               "                 no thread, and shows neither signals nor rt_sigreturn; ptrace, by\n"
               "                 stopping the thread twice for each; or kernel, by its tracepoints,\n"
               "                 which needs root, stops no thread, leaves the process alone, and may\n"
               "                 lose calls, which is said then (inside; ptrace for injections with a\n"
               "                 signal and no result)\n"
               "\n"
               "Examples:\n"
               "  gait syscalls -f -e trace=%file make\n"
               "  gait syscalls -c -p 1234\n"
               "  gait syscalls -e inject=openat:error=EACCES:when=3 cat /etc/passwd\n",
    .takes_program = true,
    .run = run,
};
