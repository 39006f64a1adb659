/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/recorder.h"

#include "ring/ring_layout.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What is written is in the file at most this much later. */
#define DRAIN_MS 8

static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal)
{
    (void)signal;
    is_interrupted = 1;
}

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
    *agent_out = (struct agent_options){
        .events = options->events,
        .with_times = options->with_times,
        .new_threads = 1,
        .overflow = (uint32_t)(options->overflow == -1 ? overflow : options->overflow),
        .buffer_bytes = options->buffer_bytes,
    };
    agent_out->trigger_signals = trigger_signals(options);
    agent_out->stack_bytes = options->stack_bytes;
    record_options_patterns(options, agent_out);
}

struct recording_options recorder_recording_options(const struct record_options *options, const char *program)
{
    return (struct recording_options){
        .output = options->output,
        .program = program,
        .arguments = options->rest,
        .events = options->events,
        .with_times = options->with_times,
        .compress = options->compress,
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
    };
}

/* A child has the terminal, and what is typed there is for it; whoever sends us a signal means it too. */
static void take_signals(bool is_child)
{
    struct sigaction action = {.sa_handler = interrupt};

    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    if (is_child)
        action.sa_handler = SIG_IGN;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGQUIT, &action, NULL);
}

static bool has_ended(const struct target *target, bool is_child, int *status_out)
{
    if (is_child)
        return waitpid(target->pid, status_out, WNOHANG) == target->pid;
    *status_out = -1;
    return kill(target->pid, 0) != 0 && errno == ESRCH;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

enum recorder_end recorder_run(struct recording *recording, const struct target *target,
                               const struct record_options *options, bool is_child, int *status_out,
                               struct gait_error *err)
{
    int64_t end = options->duration_seconds == 0 ? INT64_MAX : now_ms() + (int64_t)options->duration_seconds * 1000;

    take_signals(is_child);
    for (;;) {
        bool ended = has_ended(target, is_child, status_out);

        if (recording_drain(recording, err) != 0)
            return RECORDER_FAILED;
        if (ended && recording_process_ended(recording, target->pid, *status_out, err) != 0)
            return RECORDER_FAILED;
        if (ended)
            return RECORDER_TARGET_ENDED;
        if (is_interrupted || now_ms() >= end)
            return RECORDER_STOPPED;
        recording_wait(recording, DRAIN_MS);
    }
}

const char *recorder_how(enum recorder_end end, const struct gait_error *err)
{
    if (end != RECORDER_FAILED)
        return "detached";
    return err->code == ENOSPC || err->code == EDQUOT ? "disk full" : "interrupted";
}

enum command_status recorder_finish(struct recording *recording, const struct record_options *options, const char *how,
                                    struct gait_error *err)
{
    uint64_t lost = recording_lost(recording), bytes = recording->event_bytes;
    int result = recording_end(recording, how, err);

    if (!options->is_quiet) {
        fprintf(stderr, "gait: recorded %.1f MiB of event records in %s\n", (double)bytes / (1 << 20), recording->path);
        if (lost != 0)
            fprintf(stderr,
                    "gait: %.1f MiB of event records were lost, because they came faster than they were written; "
                    "--overflow block makes the program wait\n",
                    (double)lost / (1 << 20));
    }
    return result == 0 ? COMMAND_DONE : COMMAND_FAILED;
}
