/* SPDX-License-Identifier: MIT */
/* What gait probe shows: events as they come, what was counted, and what there is to probe. One thread at a time. */
#ifndef GAIT_CLI_SCREENS_PROBE_SCREEN_H
#define GAIT_CLI_SCREENS_PROBE_SCREEN_H

#include "base/hash_map.h"
#include "kernel/chosen_probes.h"
#include "kernel/kernel_program.h"
#include "kernel/mapped_files.h"
#include "kernel/perf_reader.h"
#include "symbolize/function_names.h"
#include "symbolize/named_code.h"

struct screen;

struct probe_screen {
    struct screen *screen;
    const struct chosen_probes *list;
    uint64_t began; /* the counter */
    double tick_ns;
    struct hash_map names; /* of threads: where they are in the texts */
    char *texts;
    size_t text_count;
    struct named_code kernel;
    bool has_kernel;
    struct mapped_files files;       /* of processes whose stacks are shown */
    struct function_names functions; /* in these */
    uint64_t shown;
    uint64_t limit; /* 0: none */
    uint64_t lost;
};

MUST_USE int probe_screen_init(struct probe_screen *shown, struct screen *screen, const struct chosen_probes *list);
void probe_screen_deinit(struct probe_screen *shown);

/* What to give to perf_reader_drain. */
struct perf_receiver probe_screen_receiver(struct probe_screen *shown);

/* Whether as many were shown as were asked for. */
bool probe_screen_is_full(const struct probe_screen *shown);

/* A table of what was counted, or a histogram for each key. `by` may be NULL, and so may `measure`. */
void probe_screen_put_counts(struct screen *screen, const struct chosen_probes *list,
                             const struct kernel_programs *programs, const char *by, const char *measure);

/* A line for a place that can be probed, with its arguments. */
void probe_screen_put_probe(struct screen *screen, const struct source_probe *probe);

#endif
