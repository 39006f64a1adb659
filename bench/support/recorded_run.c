/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/recorded_run.h"

#include "view/trace_report.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_COMMAND "build/release-gcc/gait"
#define SAMPLE_NS       5000000

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

const char *recorded_command(void)
{
    const char *command = getenv("GAIT_BENCH_COMMAND");

    return command == NULL ? DEFAULT_COMMAND : command;
}

struct recorded_plan recorded_plan_spawn(const char *const *options)
{
    struct recorded_plan plan = {
        .prefix = {recorded_command(), "spawn", "--quiet", "-o", "{}"},
        .has_trace = true,
    };
    size_t at = 5;

    while (*options != NULL && at < RECORDED_ARGUMENTS_MAX / 2 - 2)
        plan.prefix[at++] = *options++;
    plan.prefix[at] = "--";
    return plan;
}

bool recorded_has_program(const char *name)
{
    char text[256];

    snprintf(text, sizeof(text), "command -v %s >/dev/null 2>&1", name);
    return system(text) == 0;
}

/* ---- folders ----------------------------------------------------------------------------------------------------- */

static uint64_t bytes_seen;

static int add_file(const char *path, const struct stat *status, int flag, struct FTW *place)
{
    (void)path;
    (void)place;
    if (flag == FTW_F)
        bytes_seen += (uint64_t)status->st_size;
    return 0;
}

static uint64_t folder_bytes(const char *path)
{
    bytes_seen = 0;
    (void)nftw(path, add_file, 16, FTW_PHYS);
    return bytes_seen;
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *place)
{
    (void)status;
    (void)flag;
    (void)place;
    return remove(path);
}

static int count_events(const char *path, struct recorded_result *result)
{
    const struct trace_report_options options = {.by = CALL_GROUP_THREAD};
    struct trace_report report;
    struct view_trace trace;
    struct gait_error err;

    if (view_trace_open(&trace, path, &err) != 0 || trace_report_read(&report, &trace, &options, &err) != 0) {
        fprintf(stderr, "bench: %s\n", err.text);
        return -EPROTO;
    }
    for (size_t i = 0; i < trace.thread_count; i++)
        for (size_t kind = 0; kind < EVENT_NAME_COUNT; kind++)
            result->events += report.threads[i].counts[kind];
    result->lost_bytes += trace_report_lost_bytes(&report);
    trace_report_free(&report);
    view_trace_close(&trace);
    return 0;
}

static int read_trace(const char *folder, const struct recorded_plan *plan, struct recorded_result *result)
{
    char pattern[300];
    glob_t found;
    int status = 0;

    snprintf(pattern, sizeof(pattern), "%s/*", folder);
    if (glob(pattern, 0, NULL, &found) != 0 || found.gl_pathc != 1) {
        fprintf(stderr, "bench: there is no single trace in %s\n", folder);
        return -ENOENT;
    }
    result->trace_bytes = folder_bytes(folder);
    if (!plan->skip_events)
        status = count_events(found.gl_pathv[0], result);
    if (status == 0 && plan->look != NULL)
        status = plan->look(plan->context, found.gl_pathv[0]);
    globfree(&found);
    return status;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void run_child(const struct recorded_plan *plan, char *folder)
{
    char *arguments[RECORDED_ARGUMENTS_MAX + 1];
    size_t count = 0;
    int in = open(plan->input == NULL ? "/dev/null" : plan->input, O_RDONLY), out = open("/dev/null", O_WRONLY);

    for (const char *const *part = plan->prefix; *part != NULL; part++)
        arguments[count++] = strcmp(*part, "{}") == 0 ? folder : (char *)(uintptr_t)*part;
    for (const char *const *part = plan->command; *part != NULL; part++)
        arguments[count++] = (char *)(uintptr_t)*part;
    arguments[count] = NULL;
    dup2(in, 0);
    dup2(out, 1);
    /* Other recorders talk there. */
    if (!plan->has_trace)
        dup2(out, 2);
    execvp(arguments[0], arguments);
    _exit(127);
}

static uint64_t resident_bytes(pid_t pid)
{
    char path[64], line[256];
    unsigned long kib = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "VmHWM: %lu", &kib) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return (uint64_t)kib << 10;
}

static int wait_for(pid_t pid, const sigset_t *signals, struct recorded_result *result)
{
    const struct timespec sample = {0, SAMPLE_NS};
    struct rusage usage;
    int status;

    for (;;) {
        uint64_t bytes = resident_bytes(pid);

        if (bytes > result->memory_bytes)
            result->memory_bytes = bytes;
        if (wait4(pid, &status, WNOHANG, &usage) == pid)
            break;
        /* Its end is a signal. */
        (void)sigtimedwait(signals, NULL, &sample);
    }
    result->wall_s = now_s() - result->wall_s;
    result->cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int recorded_run(const struct recorded_plan *plan, struct recorded_result *result_out)
{
    char folder[] = "/tmp/gait-bench-XXXXXX";
    struct recorded_result result = {.wall_s = 0};
    sigset_t signals, before;
    int status;
    pid_t pid;

    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    if (mkdtemp(folder) == NULL) {
        perror("bench: cannot make a folder");
        return -1;
    }
    sigprocmask(SIG_BLOCK, &signals, &before);
    result.wall_s = now_s();
    pid = fork();
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        run_child(plan, folder);
    }
    status = wait_for(pid, &signals, &result);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (status != 0)
        fprintf(stderr, "bench: '%s %s' ended with status %d\n", plan->prefix[0] == NULL ? "" : plan->prefix[0],
                plan->command[0], status);
    else if (plan->has_trace)
        status = read_trace(folder, plan, &result);
    else
        result.trace_bytes = folder_bytes(folder);
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    *result_out = result;
    return status;
}
