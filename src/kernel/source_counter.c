/* SPDX-License-Identifier: MIT */
/*
 * What the kernel and the CPU count: every so many of them, where the program was is recorded. A profile is the same
 * with time in place of a count.
 */
#define _GNU_SOURCE
#include "kernel/source.h"

#include "base/glob.h"
#include "hosted/error_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct perf_counter {
    const char *name;
    uint64_t config;
    uint64_t usual_count;
};

static const struct perf_counter software[] = {
    {"cpu-clock", PERF_COUNT_SW_CPU_CLOCK, 1000000},         {"task-clock", PERF_COUNT_SW_TASK_CLOCK, 1000000},
    {"page-faults", PERF_COUNT_SW_PAGE_FAULTS, 1},           {"faults", PERF_COUNT_SW_PAGE_FAULTS, 1},
    {"minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, 1},      {"major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1},
    {"context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES, 1}, {"cs", PERF_COUNT_SW_CONTEXT_SWITCHES, 1},
    {"cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS, 1},     {"alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS, 1},
    {"emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS, 1}, {NULL, 0, 0},
};

static const struct perf_counter hardware[] = {
    {"cpu-cycles", PERF_COUNT_HW_CPU_CYCLES, 1000000},
    {"cycles", PERF_COUNT_HW_CPU_CYCLES, 1000000},
    {"instructions", PERF_COUNT_HW_INSTRUCTIONS, 1000000},
    {"cache-references", PERF_COUNT_HW_CACHE_REFERENCES, 1000000},
    {"cache-misses", PERF_COUNT_HW_CACHE_MISSES, 1000000},
    {"branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100000},
    {"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100000},
    {"branch-misses", PERF_COUNT_HW_BRANCH_MISSES, 100000},
    {"bus-cycles", PERF_COUNT_HW_BUS_CYCLES, 100000},
    {"frontend-stalls", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 1000000},
    {"backend-stalls", PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 1000000},
    {"ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES, 1000000},
    {NULL, 0, 0},
};

static const struct perf_counter *counters_of(enum probe_kind kind)
{
    return kind == PROBE_HARDWARE ? hardware : software;
}

static void describe(struct source_probe *probe, const char *what)
{
    const struct kernel_field address = {.size_bytes = 8, .count = 1, .type = KERNEL_FIELD_HEX};
    struct kernel_field second = address;

    second.offset = 8;
    probe->raw = SOURCE_RAW_PLACE;
    probe->attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
    source_probe_add_field(probe, &address, "ip");
    source_probe_add_field(probe, &second, what);
}

static int finish(const struct probe_spec *spec, const char *name, struct source_probe *probe, struct gait_error *err)
{
    probe->kind = spec->kind;
    probe->spec = strdup(spec->text);
    probe->name = strdup(name);
    if (probe->spec != NULL && probe->name != NULL)
        return 0;
    source_probe_deinit(probe);
    return error_set(err, ENOMEM, "cannot watch %s: there is no memory", spec->text);
}

static int resolve(const struct probe_spec *spec, struct source_probe *probe_out, struct gait_error *err)
{
    struct source_probe probe = {.attr.type = spec->kind == PROBE_HARDWARE ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE};
    const struct perf_counter *counter = counters_of(spec->kind);
    int result;

    while (counter->name != NULL && strcmp(counter->name, spec->name) != 0)
        counter++;
    if (counter->name == NULL)
        return error_set(err, ENOENT, "cannot watch %s: there is no such event", spec->text);
    probe.attr.config = counter->config;
    probe.attr.sample_period = spec->count == 0 ? counter->usual_count : spec->count;
    describe(&probe, "address");
    result = finish(spec, counter->name, &probe, err);
    if (result == 0)
        *probe_out = probe;
    return result;
}

static int list(const struct probe_spec *spec, source_visit *visit, void *context, struct gait_error *err)
{
    int result = 0;

    (void)err;
    for (const struct perf_counter *counter = counters_of(spec->kind); counter->name != NULL && result == 0;
         counter++) {
        char text[96];

        if (!glob_matches_string(spec->name, counter->name))
            continue;
        snprintf(text, sizeof(text), "%s:%s", probe_kind_name(spec->kind), counter->name);
        result = visit(context, text);
    }
    return result;
}

static int check_counter(uint32_t type, uint64_t config, const char *what, struct gait_error *err)
{
    struct perf_event_attr attr = {.type = type, .config = config, .exclude_kernel = 1};
    int result = source_try(&attr);

    return result == 0 ? 0 : source_explain(what, result, err);
}

static int check_software(struct gait_error *err)
{
    return check_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "software events", err);
}

static int check_hardware(struct gait_error *err)
{
    return check_counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "hardware events", err);
}

const struct source source_software = {
    .kind = PROBE_SOFTWARE,
    .purpose = "page faults, context switches and what else the kernel counts",
    .check = check_software,
    .list = list,
    .resolve = resolve,
};

const struct source source_hardware = {
    .kind = PROBE_HARDWARE,
    .purpose = "cache misses, instructions and what else the CPU counts",
    .check = check_hardware,
    .list = list,
    .resolve = resolve,
};

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

/* By a timer of the kernel, which is there on all machines. */
static int resolve_profile(const struct probe_spec *spec, struct source_probe *probe_out, struct gait_error *err)
{
    struct source_probe probe = {
        .attr = {.type = PERF_TYPE_SOFTWARE,
                 .config = PERF_COUNT_SW_CPU_CLOCK,
                 .sample_period = probe_spec_period_ns(spec)},
    };
    int result;

    describe(&probe, "address");
    probe.field_count = 1;
    result = finish(spec, "profile", &probe, err);
    if (result == 0)
        *probe_out = probe;
    return result;
}

static int list_profiles(const struct probe_spec *spec, source_visit *visit, void *context, struct gait_error *err)
{
    (void)err;
    return visit(context, spec->text);
}

static int check_profile(struct gait_error *err)
{
    return check_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "profiles", err);
}

const struct source source_profile = {
    .kind = PROBE_PROFILE,
    .purpose = "where programs are, so many times a second",
    .check = check_profile,
    .list = list_profiles,
    .resolve = resolve_profile,
};
