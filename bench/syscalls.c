/* SPDX-License-Identifier: MIT */
/*
 * What does it cost a program that its system calls are seen? getppid, as often as it goes: natively; recorded from
 * inside, by patched places and followed; passed by, since it is not in the set; and under strace, all of it and passed
 * by. The program measures itself, in CPU time of the thread; in turn, several rounds, the best of each counts.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS  5
#define REPEATS 10
#define WORD    "--measure"

struct way {
    const char *name;
    const char *words[12]; /* before the program; GAIT stands for the command, FOLDER for where a trace may go */
    unsigned calls;        /* at once */
    double best_ns;
};

#define GAIT   "gait"
#define FOLDER "folder"

static char folder[] = "/tmp/gait-bench-syscalls-XXXXXX";

static struct way ways[] = {
    {"native", {NULL}, 100000, 0},
    {"recorded from inside", {GAIT, "spawn", "--quiet", "--syscalls", "-o", FOLDER, "--", NULL}, 100000, 0},
    {"from inside, not in the set",
     {GAIT, "spawn", "--quiet", "--syscalls=openat", "-o", FOLDER, "--", NULL},
     100000,
     0},
    {"followed, recorded",
     {GAIT, "spawn", "--quiet", "--follow", "none", "--syscalls", "-o", FOLDER, "--", NULL},
     100000,
     0},
    {"followed, not told", {GAIT, "spawn", "--quiet", "--follow", "none", "-o", FOLDER, "--", NULL}, 100000, 0},
    {"strace", {"strace", "-o", "/dev/null", NULL}, 2000, 0},
    {"strace --seccomp-bpf, not in the set",
     {"strace", "-f", "--seccomp-bpf", "-e", "trace=openat", "-o", "/dev/null", NULL},
     100000,
     0},
};

static double thread_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* As the program that is looked at: nanoseconds a call, the best of some tries. */
static int measure(unsigned calls)
{
    double best = 1e18;

    for (unsigned round = 0; round < REPEATS; round++) {
        double began = thread_ns(), each;

        for (unsigned i = 0; i < calls; i++)
            (void)getppid();
        each = (thread_ns() - began) / calls;
        best = each < best ? each : best;
    }
    printf("%.2f\n", best);
    return 0;
}

static const char *word_of(const char *word)
{
    const char *command = getenv("GAIT_BENCH_COMMAND");

    if (strcmp(word, GAIT) == 0)
        return command == NULL ? "build/release-gcc/gait" : command;
    return strcmp(word, FOLDER) == 0 ? folder : word;
}

static void execute(const struct way *way, const char *self, int output)
{
    const char *words[20];
    char calls[16];
    size_t count = 0;

    snprintf(calls, sizeof(calls), "%u", way->calls);
    for (; way->words[count] != NULL; count++)
        words[count] = word_of(way->words[count]);
    words[count++] = self;
    words[count++] = WORD;
    words[count++] = calls;
    words[count] = NULL;
    dup2(output, STDOUT_FILENO);
    execvp(words[0], (char *const *)words);
    _exit(127);
}

/* 0: it cannot be had. */
static double run(const struct way *way, const char *self)
{
    char text[64] = "";
    int pipe_fds[2], status;
    ssize_t got;
    pid_t pid;

    if (pipe(pipe_fds) != 0)
        return 0;
    pid = fork();
    if (pid == 0)
        execute(way, self, pipe_fds[1]);
    close(pipe_fds[1]);
    got = read(pipe_fds[0], text, sizeof(text) - 1);
    close(pipe_fds[0]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0 || got <= 0)
        return 0;
    return strtod(text, NULL);
}

static void clear(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf '%s'/*", folder);
    if (system(command) != 0)
        fprintf(stderr, "cannot empty %s\n", folder);
}

int main(int argc, char **argv)
{
    size_t count = sizeof(ways) / sizeof(ways[0]);
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (argc == 3 && strcmp(argv[1], WORD) == 0)
        return measure((unsigned)strtoul(argv[2], NULL, 10));
    if (length <= 0 || mkdtemp(folder) == NULL)
        return 1;
    self[length] = '\0';
    for (unsigned round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < count; i++) {
            double ns = run(&ways[i], self);

            if (ns != 0 && (ways[i].best_ns == 0 || ns < ways[i].best_ns))
                ways[i].best_ns = ns;
            clear();
        }
    rmdir(folder);
    for (size_t i = 0; i < count; i++) {
        if (ways[i].best_ns == 0)
            printf("%-40s          -\n", ways[i].name);
        else
            printf("%-40s %10.1f ns  %+10.1f\n", ways[i].name, ways[i].best_ns, ways[i].best_ns - ways[0].best_ns);
    }
    return 0;
}
