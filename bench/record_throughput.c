/* SPDX-License-Identifier: MIT */
/*
 * How many calls and returns a second reach the disk? A program that does nothing but call is recorded. As fast as it
 * can it waits for the recorder, so nothing is lost; at a given pace it does not, and what the recorder misses is lost.
 * build/bench/record_throughput SECONDS makes the last pace last longer; GAIT_BENCH_SCALE changes all but the bursts.
 * Beside it what the same calls take by themselves, and with the tracers that Debian has.
 */
#include "support/call_producer.h"
#include "support/followed_run.h"
#include "support/recorded_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAST_CALLS     40000000u
#define BURST_CALLS    5000000u
#define STEADY_SECONDS 10u
#define STEADY_KILO    2500u /* thousand calls a second: twice as many events */
#define PEER_CALLS     2000000u
#define SOURCE         "bench/support/call_producer.c"
#define LTTNG_LIBRARY  "liblttng-ust-cyg-profile-fast.so"

struct load {
    const char *name;
    unsigned threads;
    uint64_t calls; /* of each thread */
    unsigned kilo_per_second;
    const char *overflow;
};

static char self[4096];

static struct recorded_plan plan_for(const struct load *load, const char *const *options, char texts[3][32])
{
    struct recorded_plan plan =
        options == NULL ? (struct recorded_plan){.has_trace = false} : recorded_plan_spawn(options);

    snprintf(texts[0], 32, "%u", load->threads);
    snprintf(texts[1], 32, "%llu", (unsigned long long)load->calls);
    snprintf(texts[2], 32, "%u", load->kilo_per_second);
    plan.command[0] = self;
    plan.command[1] = "--produce";
    for (int i = 0; i < 3; i++)
        plan.command[2 + i] = texts[i];
    return plan;
}

static int measure(const struct load *load)
{
    const char *const options[] = {"--follow", "call,ret", "--overflow", load->overflow, NULL};
    struct recorded_result native, recorded;
    char texts[3][32];
    struct recorded_plan plan = plan_for(load, NULL, texts);
    double calls = (double)load->calls * load->threads, made;

    if (recorded_run(&plan, &native) != 0)
        return 1;
    plan = plan_for(load, options, texts);
    if (recorded_run(&plan, &recorded) != 0)
        return 1;
    made = (double)recorded.events + (double)recorded.lost_bytes / 16;
    printf("| %s | %.1f | %.1f | %.3f %% | %.1f | %.2f | %.0f | %.1f |\n", load->name, 2 * calls / native.wall_s * 1e-6,
           (double)recorded.events / recorded.wall_s * 1e-6, (double)recorded.lost_bytes / 16 / made * 100,
           (recorded.cpu_s - native.cpu_s) / made * 1e9, (double)recorded.trace_bytes / (double)recorded.events,
           (double)recorded.memory_bytes / (1 << 20), recorded.wall_s);
    return 0;
}

/* ---- peers ------------------------------------------------------------------------------------------------------- */

struct peer {
    const char *name;
    const char *program; /* that has to be there */
    const char *flags;   /* for the compiler */
    const char *command; /* of the shell, for which $P is the program and $D a folder */
};

static const struct peer peers[] = {
    {"uftrace record", "uftrace", "-pg", "uftrace record --no-libcall -d $D/uftrace $P"},
    {"lttng-ust", "lttng", "-finstrument-functions",
     "lttng create gait-bench --output=$D/lttng >&2 && lttng enable-event -u -a >&2 && lttng start >&2 && "
     "LD_PRELOAD=" LTTNG_LIBRARY " $P; lttng stop >&2; lttng destroy gait-bench >&2"},
    {"perf record -g (samples)", "perf", "-g", "perf record -q -g -o $D/perf.data $P"},
    {"strace -f (system calls only)", "strace", "-g", "strace -f -o $D/strace $P"},
};

/* The producer, compiled for the peer; the compiler leaves it in the working folder's name. */
static int run_peer(const struct peer *peer, const char *program, struct recorded_result *result)
{
    char script[1024], calls[32];
    struct recorded_plan plan = {
        .prefix = {"sh", "-c", script, "sh", "{}", NULL},
        .command = {program, NULL},
    };

    snprintf(calls, sizeof(calls), "1 %u", PEER_CALLS);
    snprintf(script, sizeof(script), "D=$1; P=\"$2 %s\"; export GMON_OUT_PREFIX=$D/gmon; %s", calls,
             peer == NULL ? "$P" : peer->command);
    return recorded_run(&plan, result);
}

static void measure_peer(const struct peer *peer)
{
    char program[] = "/tmp/gait-bench-program-XXXXXX", compile[512];
    struct recorded_result native, traced;
    int fd;

    if (!recorded_has_program(peer->program)) {
        printf("| %s | not installed | | |\n", peer->name);
        return;
    }
    fd = mkstemp(program);
    close(fd);
    snprintf(compile, sizeof(compile), "cc -O2 %s -DCALL_PRODUCER_MAIN -o %s %s -lpthread", peer->flags, program,
             SOURCE);
    if (fd < 0 || system(compile) != 0)
        printf("| %s | cannot be compiled | | |\n", peer->name);
    else if (run_peer(NULL, program, &native) != 0 || run_peer(peer, program, &traced) != 0)
        printf("| %s | failed | | |\n", peer->name);
    else
        printf("| %s | %.1f | %.1f | %.1f |\n", peer->name, (traced.cpu_s - native.cpu_s) / (2.0 * PEER_CALLS) * 1e9,
               2.0 * PEER_CALLS / traced.wall_s * 1e-6, (double)traced.trace_bytes / (2.0 * PEER_CALLS));
    unlink(program);
}

int main(int argc, char **argv)
{
    unsigned scale = followed_run_scale(100),
             seconds = argc > 1 ? (unsigned)atoi(argv[1]) : STEADY_SECONDS * scale / 100;
    struct load loads[] = {
        {"one thread", 1, FAST_CALLS / 100 * scale, 0, "block"},
        {"two threads", 2, FAST_CALLS / 200 * scale, 0, "block"},
        {"eight threads", 8, FAST_CALLS / 800 * scale, 0, "block"},
        {"10 million, one thread", 1, BURST_CALLS, 0, "block"},
        {"10 million at 20 million/s, one thread", 1, BURST_CALLS, 10000, "drop"},
        {"10 million at 30 million/s, two threads", 2, BURST_CALLS / 2, 7500, "drop"},
        {"5 million/s", 1, 1000ull * STEADY_KILO * seconds, STEADY_KILO, "drop"},
    };
    int failures = 0;

    if (argc == 5 && strcmp(argv[1], "--produce") == 0)
        return call_producer_run((unsigned)atoi(argv[2]), strtoull(argv[3], NULL, 0), (unsigned)atoi(argv[4])) == 1;
    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
        return 1;
    printf("| calls and returns | native, million/s | recorded, million/s | lost | CPU ns an event | bytes an event | "
           "MiB of memory | seconds |\n|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
        failures += measure(&loads[i]);
    printf("\n| peer | CPU ns a call or return | million/s | bytes each |\n|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++)
        measure_peer(&peers[i]);
    return failures > 0;
}
