/* SPDX-License-Identifier: MIT */
/* gait spawn: records a program from its first instruction to its end, and ends as it did. */
#include "cli/recorder.h"

#include "cli/probe_lookup.h"
#include "hosted/error_text.h"
#include "inject/spawn.h"
#include "ring/ring_layout.h"

#include <errno.h>
#include <stdlib.h>

static int begin(const struct recorder_job *job, const struct agent_options *agent, struct target *target_out,
                 struct gait_error *err)
{
    int result;

    if (job->held == NULL)
        return target_spawn(job->options->rest, agent, target_out, err);
    result = spawn_stopped(job->options->rest, job->held, err);
    if (result == 0) {
        result = target_begin(job->held, agent, target_out, err);
        if (result != 0)
            spawn_abandon(job->held, result);
    }
    if (result != 0)
        target_out->killed_by = job->held->killed_by;
    return result;
}

static enum command_status record(const struct command_call *call, const struct record_options *options)
{
    struct tracee held;
    const struct recorder_job job = {
        .options = options,
        .program = options->rest[0],
        .is_child = true,
        .overflow = RING_BLOCK,
        .begin = begin,
        .held = options->waits || options->kernel_probes.count != 0 || options->with_sched ? &held : NULL,
    };

    if (options->rest_count == 0) {
        (void)error_set(call->error, EINVAL, "spawn: which program? See gait help spawn");
        return COMMAND_MISUSED;
    }
    if (probe_lookup(call, &options->probes, options->rest[0], 0) != COMMAND_DONE)
        return COMMAND_MISUSED;
    return recorder_run(call, &job);
}

static enum command_status run(const struct command_call *call)
{
    struct record_options options;
    enum command_status status = record_options_parse(call, "spawn", &options);

    if (status == COMMAND_DONE)
        status = record(call, &options);
    record_options_release(&options);
    return status;
}

const struct command command_spawn = {
    .name = "spawn",
    .arguments = "[options] [--] PROGRAM [ARG...]",
    .summary = "records a program from its first instruction to its end",
    .details =
        "Starts the program with the terminal, folder, environment and files of gait, and\n"
        "ends with its exit status, or 128 + N if signal N ended it, when the processes that\n"
        "it made have ended too; Ctrl-C ends the recording of those that outlive it. The\n"
        "trace is a folder; gait report shows what is in it.\n"
        "\n" RECORD_OPTIONS_HELP "  --wait              the program waits before its first instruction, until Enter\n"
        "                      or gait trigger PID\n"
        "\n"
        "Examples:\n"
        "  gait spawn -- ./program with arguments\n"
        "  gait spawn --hook 'parse_*' --hook 'libc*!malloc' -o traces -- ./program\n"
        "  gait spawn --follow call,ret --times -- ./program\n"
        "  gait spawn --arg 'libc*!open*:str,hex->fd!errno' -- ls\n",
    .takes_program = true,
    .run = run,
};
