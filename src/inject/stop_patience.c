/* SPDX-License-Identifier: MIT */
/* What threads are doing is read from /proc, once in a while. No lock: the tracer is one thread. */
#define _GNU_SOURCE
#include "inject/stop_patience.h"

#include "hosted/system_clock.h"
#include "inject/tracee.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static FILE *open_file(pid_t pid, pid_t tid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
    return fopen(path, "re");
}

char stop_patience_state_of(pid_t pid, pid_t tid)
{
    FILE *file = open_file(pid, tid, "stat");
    const char *behind_name;
    char line[512], state = 'X';

    if (file == NULL)
        return state;
    if (fgets(line, sizeof(line), file) != NULL && (behind_name = strrchr(line, ')')) != NULL && behind_name[1] == ' ')
        state = behind_name[2];
    fclose(file);
    return state;
}

/* How often it was taken from a CPU, by itself or not. */
static uint64_t run_count_of(const struct tracee *thread)
{
    FILE *file = open_file(thread->pid, thread->tid, "status");
    unsigned long long count;
    uint64_t sum = 0;
    char line[512];

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "voluntary_ctxt_switches: %llu", &count) == 1 ||
            sscanf(line, "nonvoluntary_ctxt_switches: %llu", &count) == 1)
            sum += count;
    if (file != NULL)
        fclose(file);
    return sum;
}

void stop_patience_begin(struct stop_patience *patience)
{
    uint64_t now = system_clock_ns(CLOCK_MONOTONIC);

    *patience = (struct stop_patience){.begun_ns = now, .looked_ns = now};
}

int stop_patience_look(struct stop_patience *patience, const struct tracee *threads, size_t count)
{
    uint64_t now = system_clock_ns(CLOCK_MONOTONIC), run_count = 0;
    bool is_uninterruptible = false, has_run;

    if (now - patience->looked_ns < STOP_LOOK_NANOSECONDS)
        return 0;
    for (size_t i = 0; i < count; i++) {
        if (threads[i].is_stopped)
            continue;
        is_uninterruptible |= stop_patience_state_of(threads[i].pid, threads[i].tid) == 'D';
        run_count += run_count_of(&threads[i]);
    }
    has_run = run_count != patience->run_count;
    patience->looked_ns = now;
    patience->run_count = run_count;
    /* Who has run since may be in another such wait by now: of a busy disk, say. */
    if (is_uninterruptible && !has_run)
        return -ETIMEDOUT;
    return now - patience->begun_ns < STOP_MOST_NANOSECONDS ? 0 : -ETIME;
}
