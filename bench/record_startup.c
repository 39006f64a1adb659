/* SPDX-License-Identifier: MIT */
/*
 * How much later is a program over that does nothing, when it is recorded? Milliseconds from start to end of /bin/true,
 * the best of many rounds in turn; beside gait the tracers that Debian has.
 */
#include "support/recorded_run.h"

#include <stdio.h>
#include <string.h>

#define ROUNDS 30

struct way {
    const char *name;
    const char *program; /* that has to be there; NULL: gait spawn, with these options; gait: another command of it */
    const char *options[8];
};

static const struct way ways[] = {
    {"gait spawn --follow none", NULL, {"--follow", "none"}},
    {"gait spawn --follow call,ret", NULL, {"--follow", "call,ret"}},
    {"gait spawn --hook malloc (it has none)", NULL, {"--hook", "malloc"}},
    {"gait spawn --syscalls", NULL, {"--syscalls"}},
    {"gait syscalls", "gait", {"", "syscalls", "-f", "-o", "/dev/null"}},
    {"gait syscalls --via ptrace", "gait", {"", "syscalls", "--via", "ptrace", "-f", "-o", "/dev/null"}},
    {"strace -f", "strace", {"strace", "-f", "-o", "/dev/null"}},
    {"perf record", "perf", {"perf", "record", "-q", "-o", "/dev/null"}},
    {"uftrace record --force", "uftrace", {"uftrace", "record", "--force", "-d", "{}"}},
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

static bool is_gait(const char *program)
{
    return program != NULL && strcmp(program, "gait") == 0;
}

static int run(const struct way *way, double *best_s)
{
    struct recorded_plan plan = {.has_trace = false};
    struct recorded_result result;

    if (way != NULL && way->program == NULL)
        plan = recorded_plan_spawn(way->options);
    for (size_t i = 0; way != NULL && way->program != NULL && way->options[i] != NULL; i++)
        plan.prefix[i] = way->options[i];
    if (way != NULL && is_gait(way->program))
        plan.prefix[0] = recorded_command();
    plan.command[0] = "/bin/true";
    plan.skip_events = true;
    if (recorded_run(&plan, &result) != 0)
        return 1;
    if (result.wall_s < *best_s)
        *best_s = result.wall_s;
    return 0;
}

int main(void)
{
    double native_s = 1e9, best_s[WAYS];
    int failures = 0;

    for (size_t i = 0; i < WAYS; i++)
        best_s[i] = 1e9;
    for (int round = 0; round < ROUNDS && failures == 0; round++) {
        failures += run(NULL, &native_s);
        for (size_t i = 0; i < WAYS; i++)
            if (ways[i].program == NULL || is_gait(ways[i].program) || recorded_has_program(ways[i].program))
                failures += run(&ways[i], &best_s[i]);
    }
    printf("| /bin/true | ms | ms more than native |\n|---|---|---|\n| native | %.2f | |\n", native_s * 1e3);
    for (size_t i = 0; i < WAYS; i++)
        if (best_s[i] < 1e9)
            printf("| %s | %.2f | %.2f |\n", ways[i].name, best_s[i] * 1e3, (best_s[i] - native_s) * 1e3);
        else
            printf("| %s | not installed | |\n", ways[i].name);
    return failures > 0;
}
