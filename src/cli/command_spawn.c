/* SPDX-License-Identifier: MIT */
/* gait spawn: records a program from its first instruction to its end, and ends as it did. */
#define _GNU_SOURCE
#include "cli/recorder.h"

#include "libgait/error.h"
#include "ring/ring_layout.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The exit status that a shell would give. */
static enum command_status status_of(int status)
{
    return (enum command_status)(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

/* The recording is over, the program is not. */
static int wait_for_end(const struct target *target)
{
    int status = 0;

    while (waitpid(target->pid, &status, 0) == -1 && errno == EINTR)
        ;
    return status;
}

static enum command_status record(const struct command_call *call, const struct record_options *options,
                                  struct recording *recording)
{
    struct agent_options agent;
    struct target target;
    const char *how = NULL;
    enum recorder_end end;
    int status = 0;

    recorder_agent_options(options, RING_BLOCK, &agent);
    if (target_spawn(options->rest, &agent, &target, call->error) != 0) {
        recording_discard(recording);
        return COMMAND_FAILED;
    }
    if (recording_add_process(recording, target.pid, 0, target.ring_fd, call->error) != 0)
        return COMMAND_FAILED;
    end = recorder_run(recording, &target, options, true, &status, call->error);
    if (end == RECORDER_FAILED)
        fprintf(stderr, "gait: %s; the program goes on\n", call->error->text);
    if (end != RECORDER_TARGET_ENDED) {
        struct gait_error why;

        how = recorder_how(end, call->error);
        if (target_detach(&target, &why) != 0 && why.code != ESRCH)
            fprintf(stderr, "gait: %s\n", why.text);
        status = wait_for_end(&target);
        (void)!recording_process_ended(recording, target.pid, status, call->error);
    }
    target_forget(&target);
    if (how == NULL)
        how = WIFSIGNALED(status) ? "signal" : "exit";
    if (recorder_finish(recording, options, how, call->error) != COMMAND_DONE)
        fprintf(stderr, "gait: %s\n", call->error->text);
    return status_of(status);
}

static enum command_status record_with(const struct command_call *call, const struct record_options *options)
{
    const struct recording_options wanted = recorder_recording_options(options, options->rest[0]);
    struct recording recording;
    enum command_status status;

    if (options->rest_count == 0) {
        (void)error_set(call->error, EINVAL, "spawn: which program? See gait help spawn");
        return COMMAND_MISUSED;
    }
    if (recording_create(&wanted, &recording, call->error) != 0)
        return COMMAND_FAILED;
    status = record(call, options, &recording);
    free(recording.path);
    return status;
}

static enum command_status run(const struct command_call *call)
{
    struct record_options options;
    enum command_status status = record_options_parse(call, "spawn", &options);

    if (status == COMMAND_DONE)
        status = record_with(call, &options);
    record_options_release(&options);
    return status;
}

const struct command command_spawn = {
    .name = "spawn",
    .arguments = "[options] [--] PROGRAM [ARG...]",
    .summary = "records a program from its first instruction to its end",
    .details = "Starts the program with the terminal, folder, environment and files of gait, and\n"
               "ends with its exit status, or 128 + N if signal N ended it. The trace is a folder;\n"
               "gait report shows what is in it.\n"
               "\n" RECORD_OPTIONS_HELP,
    .takes_program = true,
    .run = run,
};
