/* SPDX-License-Identifier: MIT */
/* gait syscalls: what a program asks of the kernel, as strace writes it. */
#define _GNU_SOURCE
#include "cli/command.h"

#include "cli/control_client.h"
#include "cli/options/syscalls_options.h"
#include "hosted/error_text.h"
#include "hosted/system_clock.h"
#include "report/syscalls_json.h"
#include "syscalls/system_call_counts.h"
#include "syscalls/system_call_stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define FLUSH_MS 200

struct syscalls_output {
    const struct syscalls_options *options;
    FILE *stream;
    struct system_call_lines *lines;
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
    fflush(listening->stream);
    listening->flushed_ms = now_ms;
}

static void hear(void *context, const struct system_call_event *event)
{
    struct syscalls_output *listening = context;

    if (listening->counts != NULL)
        system_call_counts_add(listening->counts, event);
    if (listening->options->only_counts)
        return;
    if (listening->options->is_json)
        syscalls_json_put(listening->json, event);
    else
        system_call_lines_put(listening->lines, event);
    flush_at_times(listening);
}

static void say(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "gait: %s\n", text);
}

static enum command_status watch(const struct command_call *call, const struct syscalls_options *options,
                                 struct syscalls_output *listening, int *status_out)
{
    const struct system_call_request request = {
        .program = options->program,
        .pids = options->pids,
        .pid_count = options->pid_count,
        .follows = options->follows,
        .set = &options->set,
        .injections = &options->injections,
        .has_stacks = options->has_stacks,
        .string_bytes = options->lines.text.string_bytes,
        .hear = hear,
        .say = say,
        .context = listening,
    };

    int result = options->source->run(&request, status_out, call->error);

    if (result == -EALREADY && options->pid_count == 1)
        control_client_name_trace(options->pids[0], call->error);
    if (result != 0)
        return COMMAND_FAILED;
    system_call_lines_detach(listening->lines);
    if (listening->counts != NULL && options->is_json)
        system_call_counts_put_json(listening->counts, listening->stream);
    else if (listening->counts != NULL)
        system_call_counts_put(listening->counts, listening->stream);
    return COMMAND_DONE;
}

static enum command_status listen(const struct command_call *call, struct syscalls_options *options, FILE *stream,
                                  int *status_out)
{
    struct syscalls_output listening = {.options = options, .stream = stream};
    enum command_status status = COMMAND_FAILED;

    /* As strace: ids in a file are in a column of their own, on a terminal only where there are several. */
    options->lines.ids =
        options->follows && options->output != NULL ? SYSTEM_CALL_IDS_ALWAYS : SYSTEM_CALL_IDS_WHERE_SEVERAL;
    options->lines.put_stack = options->has_stacks ? system_call_stack_put : NULL;
    listening.lines = system_call_lines_create(stream, &options->lines);
    if (options->only_counts || options->also_counts)
        listening.counts = calloc(1, sizeof(*listening.counts));
    listening.json = syscalls_json_create(stream, &options->lines.text);
    if (listening.lines == NULL || listening.json == NULL ||
        ((options->only_counts || options->also_counts) && listening.counts == NULL))
        (void)error_set(call->error, ENOMEM, "syscalls: there is no memory");
    else
        status = watch(call, options, &listening, status_out);
    system_call_lines_destroy(listening.lines);
    syscalls_json_destroy(listening.json);
    system_call_stack_forget();
    free(listening.counts);
    return status;
}

/* Whether all that was written has arrived. */
static enum command_status close_output(const struct command_call *call, const struct syscalls_options *options,
                                        FILE *stream)
{
    bool has_failed = ferror(stream) != 0;

    if (options->output == NULL)
        has_failed |= fflush(stream) != 0;
    else
        has_failed |= fclose(stream) != 0;
    if (!has_failed)
        return COMMAND_DONE;
    (void)error_set(call->error, errno, "cannot write to %s: %s",
                    options->output == NULL ? "standard error" : options->output, strerror(errno));
    return COMMAND_FAILED;
}

static enum command_status run(const struct command_call *call)
{
    struct syscalls_options *options = malloc(sizeof(*options));
    enum command_status status = options == NULL ? COMMAND_FAILED : syscalls_options_parse(call, options);
    FILE *stream = stderr;
    int ended = 0;

    if (status == COMMAND_DONE && options->output != NULL) {
        stream = fopen(options->output, "we");
        if (stream == NULL) {
            (void)error_set(call->error, errno, "cannot write to '%s': %s", options->output, strerror(errno));
            status = COMMAND_FAILED;
        }
    }
    if (status == COMMAND_DONE) {
        status = listen(call, options, stream, &ended);
        if (close_output(call, options, stream) != COMMAND_DONE && status == COMMAND_DONE)
            status = COMMAND_FAILED;
    }
    free(options);
    if (status != COMMAND_DONE)
        return status;
    /* As the program ended. */
    return (enum command_status)(WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended));
}

extern const struct command command_syscalls;
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
