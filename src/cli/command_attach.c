/* SPDX-License-Identifier: MIT */
/* gait attach: records a process that runs, and leaves it as it was. */
#define _GNU_SOURCE
#include "cli/recorder.h"

#include "cli/control_client.h"
#include "cli/probe_lookup.h"
#include "hosted/error_text.h"
#include "hosted/figures.h"
#include "ring/ring_layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static bool read_pid(const struct record_options *options, pid_t *pid_out)
{
    char *end;
    long pid;

    if (options->rest_count != 1)
        return false;
    pid = strtol(options->rest[0], &end, 10);
    *pid_out = (pid_t)pid;
    return *end == '\0' && pid > 0 && pid == *pid_out;
}

static int begin(const struct recorder_job *job, const struct agent_options *agent, struct target *target_out,
                 struct gait_error *err)
{
    bool is_hooked = job->options->is_hooked;
    int result = target_attach(job->pid, agent, target_out, err);
    unsigned count = is_hooked ? target_out->hooked_count : target_out->followed_count;
    char standstill[FIGURE_BYTES];

    if (result == -EALREADY)
        control_client_name_trace(job->pid, err);
    if (result == 0 && !job->options->is_quiet)
        fprintf(stderr, "gait: %s %u %s%s of process %d, which stood still for %s; Ctrl-C ends it\n",
                is_hooked ? "hooked" : "following", count, is_hooked ? "function" : "thread", count == 1 ? "" : "s",
                (int)job->pid, duration_write((double)target_out->standstill_ns, standstill));
    return result;
}

static enum command_status record(const struct command_call *call, const struct record_options *options)
{
    char program[32];
    struct recorder_job job = {
        .options = options,
        .program = program,
        .overflow = RING_DROP,
        .begin = begin,
    };

    if (!read_pid(options, &job.pid)) {
        (void)error_set(call->error, EINVAL, "attach: which process? One number is needed; see gait help attach");
        return COMMAND_MISUSED;
    }
    if (options->waits) {
        (void)error_set(call->error, EINVAL,
                        "attach: --wait is for gait spawn: a process that runs already cannot wait before it does");
        return COMMAND_MISUSED;
    }
    snprintf(program, sizeof(program), "pid-%d", (int)job.pid);
    if (probe_lookup(call, &options->probes, NULL, job.pid) != COMMAND_DONE)
        return COMMAND_MISUSED;
    return recorder_run(call, &job);
}

static enum command_status run(const struct command_call *call)
{
    struct record_options options;
    enum command_status status = record_options_parse(call, "attach", &options);

    if (status == COMMAND_DONE)
        status = record(call, &options);
    record_options_release(&options);
    return status;
}

const struct command command_attach = {
    .name = "attach",
    .arguments = "[options] PID",
    .summary = "records a process that runs, until Ctrl-C or --duration",
    .details = "Follows all threads of the process, and threads and processes that they make. At the\n"
               "end they go on natively, without anything of gait in them.\n"
               "\n" RECORD_OPTIONS_HELP "\n"
               "Examples:\n"
               "  gait attach --duration 5 $(pidof redis-server)\n"
               "  gait attach --hook 'parse_*' --flight --trigger 'slow=handle>20ms' 4711\n",
    .run = run,
};
