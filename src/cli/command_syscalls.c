/* SPDX-License-Identifier: MIT */
/* gait syscalls: what a program asks of the kernel, as strace writes it. */
#define _GNU_SOURCE
#include "cli/command.h"

#include "cli/control_client.h"
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
    int result;

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
        result = options->source->run(&request, status_out, call->error);
        if (result == 0)
            status = COMMAND_DONE;
        else if (result == -EALREADY && options->pid_count == 1)
            control_client_name_trace(options->pids[0], call->error);
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
               "and each signal to standard error, as strace does; ends as the program did. Processes\n"
               "that are attached to go on as they were when Ctrl-C ends it. The options are those of\n"
               "strace 6.1, short and long ones.\n"
               "\n"
               "What is watched:\n"
               "  -f             follow threads and child processes\n"
               "  -p PID         attach to a process, with -f to all of its threads; several by commas\n"
               "                 or blanks, also beside a program\n"
               "  -b execve      leave threads that execute another program\n"
               "  -E NAME=VALUE  put a variable into the program's environment; -E NAME: take it out\n"
               "  -u USER        run the program as that user\n"
               "  -D, -DD, -DDD  the program is the child of who called gait, which is a grandchild; with\n"
               "                 a group or a session of its own\n"
               "  -I 1|2|3|4     1, 2: Ctrl-C ends gait and the program; 3: is the program's; 4: as well as\n"
               "                 Ctrl-Z\n"
               "\n"
               "Which calls:\n"
               "  -e trace=SET   only these: names, classes (file, desc, network, process, signal, ipc,\n"
               "                 memory, %creds, %clock, %stat, %lstat, %fstat, %%stat, %statfs,\n"
               "                 %fstatfs, %%statfs, %pure), /REGEX/, all, none, by commas; ! before\n"
               "                 all of it: all others; ?NAME: if there is such a call\n"
               "  -e signal=SET  only these signals\n"
               "  -e status=SET  only calls that were successful, failed, unfinished or detached; -z:\n"
               "                 successful ones; -Z: those that failed\n"
               "  -P PATH        only calls about this file, by its name or a descriptor of it\n"
               "  -e inject=SET:error=E|retval=N[:signal=S][:delay_enter=T][:delay_exit=T]\n"
               "            [:poke_enter=@argN=HEX][:poke_exit=@argN=HEX][:when=W]\n"
               "                 make these calls fail, return N, come with a signal, take longer or find\n"
               "                 other bytes where arguments point; T in microseconds, or 5ms, 1s; W:\n"
               "                 which of a thread's: N, N+, N+STEP, N..M\n"
               "  -e fault=SET[:error=E][:when=W]   the same, with ENOSYS if E is not given\n"
               "\n"
               "Where it goes:\n"
               "  -o FILE        write there; '|COMMAND' or '!COMMAND': into a command; -A: append\n"
               "  -ff            a file for each thread: FILE.TID\n"
               "  -q, -qq, -qqq  -qq: say nothing of exits, nor (-qqq) of threads that execute programs\n"
               "  --json         an object a line\n"
               "\n"
               "What a line has:\n"
               "  -t, -tt, -ttt  the time of day; with microseconds; seconds since 1970\n"
               "  --absolute-timestamps=[time|unix|none][,s|ms|us|ns]   the same in other precisions\n"
               "  -r             the time since the line before; --relative-timestamps=s|ms|us|ns\n"
               "  -T             how long each call took; --syscall-times=s|ms|us|ns\n"
               "  -n, -i         the number of the call; where it was made\n"
               "  -k             where each call was made from\n"
               "  -y             show which files descriptors are; -yy: what sockets, devices and processes\n"
               "  -Y             the names of processes\n"
               "  -s N           show N bytes of strings (32)\n"
               "  -x, -xx        strings that are not text, or all of them, in hexadecimal\n"
               "  -X raw|abbrev|verbose   constants as numbers, by name, or both\n"
               "  -v             show structs whole; -e abbrev=SET: not for these calls\n"
               "  -e verbose=SET, -e raw=SET   look at structs for these calls only; numbers for these\n"
               "  -e read=FDS, -e write=FDS   all that is read from or written to these, byte by byte\n"
               "  -a N           the column of results (40)\n"
               "\n"
               "Tables:\n"
               "  -c             only a table of calls, errors and CPU times at the end; -C: also lines\n"
               "  -w             in it, how long calls took\n"
               "  -S WORD        by time, min-time, max-time, avg-time, calls, errors, name, nothing\n"
               "  -U WORDS       its columns: these, and time-percent and total-time\n"
               "  -O T           what is not to be counted of each call\n"
               "\n"
               "How calls are seen:\n"
               "  --via HOW      inside, by an agent in the process, which stops no thread, and shows\n"
               "                 neither signals nor rt_sigreturn; ptrace, by stopping the thread twice\n"
               "                 for each; or kernel, by its tracepoints, which needs root, stops no\n"
               "                 thread, leaves the process alone, and may lose calls, which is said then\n"
               "                 (inside; ptrace for -b, -D, -i, -I, -P, -u, -e signal, read and write,\n"
               "                 -p beside a program, and injections with pokes, or a signal and no result)\n"
               "  -d             say which of them it is, and why\n"
               "\n"
               "Examples:\n"
               "  gait syscalls -f -e trace=%file make\n"
               "  gait syscalls -c -p 1234\n"
               "  gait syscalls -f -tt -o trace.txt make\n"
               "  gait syscalls -e inject=openat:error=EACCES:when=3 cat /etc/passwd\n",
    .takes_program = true,
    .run = run,
};
