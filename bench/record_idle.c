/* SPDX-License-Identifier: MIT */
/*
 * What does it cost to stay attached to programs that do nothing? Percent of a CPU that recorder and program take while
 * nothing happens; beside gait what Debian has that can attach, and the program left alone. redis-server has a timer
 * that comes ten times a second. build/bench/record_idle SECONDS measures for longer.
 */
#define _GNU_SOURCE
#include "support/recorded_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECONDS        10u
#define SETTLE_SECONDS 2u

struct subject {
    const char *name;
    const char *command[8];
};

static const struct subject subjects[] = {
    {"sleep", {"sleep", "100000"}},
    {"redis-server", {"redis-server", "--port", "7411", "--save", ""}},
};

struct watcher {
    const char *name;
    const char *command[10]; /* then the pid; NULL: nobody watches */
};

static const char gait_name[] = "gait attach";

static const struct watcher watchers[] = {
    {"nobody", {NULL}},
    {gait_name, {"{gait}", "attach", "--quiet", "-o", "{}"}},
    {"strace -f -p", {"strace", "-f", "-o", "/dev/null", "-p"}},
    {"perf record -p", {"perf", "record", "-q", "-o", "/dev/null", "-p"}},
};

static pid_t start(const char *const *command, char *folder, const char *last)
{
    const char *gait = getenv("GAIT_BENCH_COMMAND");
    const char *arguments[12];
    size_t count = 0;
    pid_t pid = fork();
    int null;

    if (pid != 0)
        return pid;
    for (; command[count] != NULL; count++)
        arguments[count] = strcmp(command[count], "{}") == 0       ? folder
                           : strcmp(command[count], "{gait}") != 0 ? command[count]
                           : gait == NULL                          ? "build/release-gcc/gait"
                                                                   : gait;
    arguments[count++] = last;
    arguments[count] = NULL;
    null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    execvp(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

/* Nanoseconds that all threads of a process ran. */
static uint64_t ran_ns(pid_t pid)
{
    char path[300];
    uint64_t total = 0;
    struct dirent *entry;
    DIR *folder;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    folder = opendir(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        unsigned long long ns;
        FILE *file;

        snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)pid, entry->d_name);
        file = fopen(path, "re");
        if (file != NULL && fscanf(file, "%llu", &ns) == 1)
            total += ns;
        if (file != NULL)
            fclose(file);
    }
    if (folder != NULL)
        closedir(folder);
    return total;
}

static void end(pid_t pid, int signal)
{
    int status;

    kill(pid, signal);
    waitpid(pid, &status, 0);
}

static int measure(const struct subject *subject, const struct watcher *watcher, unsigned seconds)
{
    char folder[] = "/tmp/gait-bench-XXXXXX", pid_text[16], remove[64];
    pid_t target, recorder = 0;
    uint64_t target_ns, recorder_ns = 0;

    if (mkdtemp(folder) == NULL)
        return 1;
    target = start(subject->command, folder, NULL);
    sleep(SETTLE_SECONDS);
    snprintf(pid_text, sizeof(pid_text), "%d", (int)target);
    if (watcher->command[0] != NULL)
        recorder = start(watcher->command, folder, pid_text);
    sleep(SETTLE_SECONDS);
    target_ns = ran_ns(target);
    recorder_ns = recorder == 0 ? 0 : ran_ns(recorder);
    sleep(seconds);
    printf("| %s | %s | %.3f %% | %.3f %% |\n", subject->name, watcher->name,
           recorder == 0 ? 0 : (double)(ran_ns(recorder) - recorder_ns) / seconds * 1e-7,
           (double)(ran_ns(target) - target_ns) / seconds * 1e-7);
    fflush(stdout);
    if (recorder != 0)
        end(recorder, SIGINT);
    end(target, SIGTERM);
    snprintf(remove, sizeof(remove), "rm -r %s", folder);
    return system(remove) != 0;
}

int main(int argc, char **argv)
{
    unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : SECONDS;
    int failures = 0;

    printf("| program | watched by | CPU of the watcher | CPU of the program |\n|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
        for (size_t j = 0; j < sizeof(watchers) / sizeof(watchers[0]); j++) {
            const char *program = watchers[j].command[0];

            if (!recorded_has_program(subjects[i].command[0]) ||
                (program != NULL && watchers[j].name != gait_name && !recorded_has_program(program)))
                printf("| %s | %s | not installed | |\n", subjects[i].name, watchers[j].name);
            else
                failures += measure(&subjects[i], &watchers[j], seconds);
        }
    return failures > 0;
}
