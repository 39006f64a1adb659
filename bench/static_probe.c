/* SPDX-License-Identifier: MIT */
/*
 * What does a static probe cost that nobody looks at, and one that is armed and recorded with its two arguments and the
 * time? Beside it the tracers that Debian has: bpftrace, which only counts, where the system lets it, and a tracepoint
 * of lttng-ust. Each is the best of many short rounds in the program itself.
 */
#define _GNU_SOURCE
#include "support/recorded_run.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOURCE "bench/programs/passed_probe.c"

struct way {
    const char *name;
    const char *needs;   /* a program that has to be there; NULL: none */
    const char *flags;   /* for the compiler */
    const char *command; /* of the shell: $P is the program, $D a folder, $G gait; it says nanoseconds */
};

static const struct way ways[] = {
    {"a probe that nobody looks at", NULL, "-Iinclude", "$P"},
    {"armed and recorded by gait", NULL, "-Iinclude", "$G spawn --quiet -o $D/traces --probe usdt::bench:two $P"},
    {"the same while it is followed", NULL, "-Iinclude",
     "$G spawn --quiet -o $D/traces --follow none --probe usdt::bench:two $P"},
    {"lttng-ust tracepoint", "lttng",
     "-DWITH_LTTNG -DLTTNG_UST_TRACEPOINT_CREATE_PROBES -DLTTNG_UST_TRACEPOINT_DEFINE -Ibench/programs",
     "lttng create gait-bench --output=$D/lttng >&2 && lttng enable-event -u bench:two >&2 && lttng start >&2 && $P; "
     "lttng stop >&2; lttng destroy gait-bench >&2"},
    {"counted by bpftrace", "bpftrace", "-Iinclude",
     "bpftrace -o $D/counts -c $P -e \"usdt:$P:bench:two { @ = count(); }\""},
};

static const char *gait_path(void)
{
    const char *given = getenv("GAIT_BENCH_COMMAND");

    return given == NULL ? "build/release-gcc/gait" : given;
}

/* What the command says last. */
static bool run(const char *command, double *nanoseconds_out)
{
    FILE *output = popen(command, "r");
    char line[256];
    bool is_said = false;

    while (output != NULL && fgets(line, sizeof(line), output) != NULL) {
        char *end;
        double said = strtod(line, &end);

        if (end != line && *end == '\n') {
            *nanoseconds_out = said;
            is_said = true;
        }
    }
    if (output != NULL)
        pclose(output);
    return is_said;
}

static void measure(const struct way *way, const char *folder)
{
    char command[2048];
    double nanoseconds;

    if (way->needs != NULL && !recorded_has_program(way->needs)) {
        printf("| %s | not installed |\n", way->name);
        return;
    }
    snprintf(command, sizeof(command),
             "cc -O2 %s -o %s/program %s -llttng-ust -ldl 2>/dev/null || cc -O2 %s -o %s/program %s", way->flags,
             folder, SOURCE, way->flags, folder, SOURCE);
    if (system(command) != 0) {
        printf("| %s | cannot be compiled |\n", way->name);
        return;
    }
    snprintf(command, sizeof(command), "D=%s P=%s/program G=%s; (%s) 2>%s/errors", folder, folder, gait_path(),
             way->command, folder);
    if (run(command, &nanoseconds))
        printf("| %s | %.2f |\n", way->name, nanoseconds);
    else
        printf("| %s | not on this machine |\n", way->name);
}

int main(void)
{
    char folder[] = "/tmp/gait-bench-probe-XXXXXX", command[64];

    if (mkdtemp(folder) == NULL)
        return 1;
    printf("| a static probe | ns added each time |\n|---|---|\n");
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        measure(&ways[i], folder);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command) == 0 ? 0 : 1;
}
