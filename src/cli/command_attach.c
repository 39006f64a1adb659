/* SPDX-License-Identifier: MIT */
/* gait attach: records a process that runs, and leaves it as it was. */
#define _GNU_SOURCE
#include "cli/recorder.h"

#include "libgait/error.h"
#include "ring/ring_layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Lets the process go, unless it has ended. */
static enum command_status leave(struct target *target, struct gait_error *err)
{
    if (target_detach(target, err) != 0 && err->code != ESRCH)
        return COMMAND_FAILED;
    return COMMAND_DONE;
}

static enum command_status record(const struct command_call *call, const struct record_options *options, pid_t pid,
                                  struct recording *recording)
{
    struct agent_options agent;
    struct target target;
    enum command_status status = COMMAND_DONE;
    enum recorder_end end;
    const char *how = "target gone";
    int wait_status;

    recorder_agent_options(options, RING_DROP, &agent);
    if (target_attach(pid, &agent, &target, call->error) != 0) {
        recording_discard(recording);
        return COMMAND_FAILED;
    }
    if (!options->is_quiet)
        fprintf(stderr, "gait: following %u threads of process %d, which stood still for %.1f ms; Ctrl-C ends it\n",
                target.followed_count, (int)pid, (double)target.standstill_ns / 1e6);
    if (recording_add_process(recording, pid, 0, target.ring_fd, call->error) != 0) {
        (void)leave(&target, call->error);
        return COMMAND_FAILED;
    }
    end = recorder_run(recording, &target, options, false, &wait_status, call->error);
    if (end != RECORDER_TARGET_ENDED) {
        how = recorder_how(end, call->error);
        status = leave(&target, call->error);
    }
    if (end == RECORDER_STOPPED && recording_drain(recording, call->error) != 0)
        status = COMMAND_FAILED;
    target_forget(&target);
    if (recorder_finish(recording, options, how, call->error) != COMMAND_DONE)
        status = COMMAND_FAILED;
    return end == RECORDER_FAILED ? COMMAND_FAILED : status;
}

static enum command_status record_with(const struct command_call *call, const struct record_options *options)
{
    char program[32];
    const struct recording_options wanted = recorder_recording_options(options, program);
    struct recording recording;
    enum command_status status;
    pid_t pid;

    if (!read_pid(options, &pid)) {
        (void)error_set(call->error, EINVAL, "attach: which process? One number is needed; see gait help attach");
        return COMMAND_MISUSED;
    }
    snprintf(program, sizeof(program), "pid-%d", (int)pid);
    if (recording_create(&wanted, &recording, call->error) != 0)
        return COMMAND_FAILED;
    status = record(call, options, pid, &recording);
    free(recording.path);
    return status;
}

static enum command_status run(const struct command_call *call)
{
    struct record_options options;
    enum command_status status = record_options_parse(call, "attach", &options);

    if (status == COMMAND_DONE)
        status = record_with(call, &options);
    record_options_release(&options);
    return status;
}

const struct command command_attach = {
    .name = "attach",
    .arguments = "[options] PID",
    .summary = "records a process that runs, until Ctrl-C or --duration",
    .details = "Follows all threads of the process and those that they make. At the end the process\n"
               "goes on as if nothing had been, without anything of gait in it.\n"
               "\n" RECORD_OPTIONS_HELP,
    .run = run,
};
