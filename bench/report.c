/* SPDX-License-Identifier: MIT */
/*
 * How long does gait report take for a hundred million events, and how much memory? A program that does nothing but
 * call is recorded, by hooks and followed, on one thread and on two; wanted are 10 s on two cores and 512 MiB. Beside
 * it uftrace report on what uftrace record makes of the same calls, fewer of them. GAIT_BENCH_SCALE changes how many.
 */
#define _GNU_SOURCE
#include "support/call_producer.h"
#include "support/followed_run.h"
#include "support/recorded_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLS      53600000u /* 28 events for 15 of them */
#define PEER_CALLS 5360000u
#define ROUNDS     2
#define SOURCE     "bench/support/call_producer.c"

struct load {
    const char *name;
    unsigned threads;
    const char *const *options; /* of gait spawn */
};

static const char *const hooks[] = {NULL};
static const char *const followed[] = {"--follow", "call,ret", NULL};

static const struct load loads[] = {
    {"hooks, one thread", 1, hooks},
    {"hooks, two threads", 2, hooks},
    {"calls and returns, one thread", 1, followed},
};

static char self[4096];

static void keep_best(struct recorded_result *best, const struct recorded_result *result)
{
    if (best->wall_s == 0 || result->wall_s < best->wall_s)
        *best = *result;
}

/* ---- gait -------------------------------------------------------------------------------------------------------- */

static int report(void *context, const char *trace)
{
    const char *command = getenv("GAIT_BENCH_COMMAND");
    struct recorded_plan plan = {
        .command = {command == NULL ? "build/release-gcc/gait" : command, "report", trace, NULL}};
    struct recorded_result result;
    int status = 0;

    for (int i = 0; i < ROUNDS && status == 0; i++) {
        status = recorded_run(&plan, &result);
        keep_best(context, &result);
    }
    return status;
}

static int measure(const struct load *load, uint64_t calls)
{
    struct recorded_plan plan = recorded_plan_spawn(load->options);
    struct recorded_result recorded, best = {.wall_s = 0};
    char threads[32], each[32];

    snprintf(threads, sizeof(threads), "%u", load->threads);
    snprintf(each, sizeof(each), "%llu", (unsigned long long)(calls / load->threads));
    plan.command[0] = self;
    plan.command[1] = "--produce";
    plan.command[2] = threads;
    plan.command[3] = each;
    plan.look = report;
    plan.context = &best;
    if (recorded_run(&plan, &recorded) != 0)
        return 1;
    printf("| %s | %.1f | %.2f | %.1f | %.1f | %.1f | %.0f |\n", load->name, (double)recorded.events * 1e-6,
           best.wall_s, best.wall_s / (double)recorded.events * 1e9, best.cpu_s / (double)recorded.events * 1e9,
           (double)best.memory_bytes / (1 << 20), (double)recorded.trace_bytes / (1 << 20));
    return 0;
}

/* ---- uftrace ----------------------------------------------------------------------------------------------------- */

/* In a folder of its own, where the compiler leaves the program and uftrace its data. */
static int measure_peer(const char *folder, double calls)
{
    struct recorded_plan plan = {.prefix = {"sh", "-c", "cd \"$0\" && exec uftrace report -d data", NULL},
                                 .command = {folder, NULL}};
    struct recorded_result result, best = {.wall_s = 0};
    char script[1024];

    snprintf(script, sizeof(script),
             "cc -O2 -pg -DCALL_PRODUCER_MAIN -o %s/program " SOURCE " -lpthread && cd %s && "
             "uftrace record --no-libcall -d data ./program 1 %.0f >/dev/null 2>&1",
             folder, folder, calls);
    if (system(script) != 0)
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        if (recorded_run(&plan, &result) != 0)
            return 1;
        keep_best(&best, &result);
    }
    printf("| uftrace report, one thread | %.1f | %.2f | %.1f | %.1f | %.1f | |\n", calls * 28 / 15 * 1e-6, best.wall_s,
           best.wall_s / (calls * 28 / 15) * 1e9, best.cpu_s / (calls * 28 / 15) * 1e9,
           (double)best.memory_bytes / (1 << 20));
    return 0;
}

static void try_peer(double calls)
{
    char folder[] = "/tmp/gait-bench-uftrace-XXXXXX", clean_up[64];

    if (!recorded_has_program("uftrace")) {
        printf("| uftrace report | not installed | | | | | |\n");
        return;
    }
    if (mkdtemp(folder) == NULL || measure_peer(folder, calls) != 0)
        printf("| uftrace report | failed | | | | | |\n");
    snprintf(clean_up, sizeof(clean_up), "rm -rf %s", folder);
    (void)!system(clean_up);
}

int main(int argc, char **argv)
{
    uint64_t scale = followed_run_scale(100);
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    int failures = 0;

    if (argc == 4 && strcmp(argv[1], "--produce") == 0)
        return call_producer_run((unsigned)atoi(argv[2]), strtoull(argv[3], NULL, 10), 0) == 1;
    if (length <= 0)
        return 1;
    printf("| trace | million events | s | ns an event | ns of CPU | MiB of memory | MiB of trace |\n"
           "|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
        failures += measure(&loads[i], CALLS * scale / 100);
    try_peer((double)PEER_CALLS * (double)scale / 100);
    return failures != 0;
}
