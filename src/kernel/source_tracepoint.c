/* SPDX-License-Identifier: MIT */
/* The kernel's own static probes, with fields that it describes itself. */
#include "kernel/source.h"

#include "hosted/error_text.h"
#include "kernel/tracepoint_format.h"

#include <errno.h>
#include <string.h>

static int resolve(const struct probe_spec *spec, struct source_probe *probe_out, struct gait_error *err)
{
    struct source_probe probe = {
        .kind = PROBE_TRACEPOINT,
        .attr = {.type = PERF_TYPE_TRACEPOINT, .sample_period = 1, .sample_type = PERF_SAMPLE_RAW},
        .raw = SOURCE_RAW_BYTES,
        .spec = strdup(spec->text),
        .name = strdup(spec->name),
    };
    int result = probe.spec == NULL || probe.name == NULL
                     ? error_set(err, ENOMEM, "cannot watch %s: there is no memory", spec->text)
                     : tracepoint_describe(spec->group, spec->name, &probe, err);

    if (result != 0) {
        source_probe_deinit(&probe);
        return result;
    }
    *probe_out = probe;
    return 0;
}

static int list(const struct probe_spec *spec, source_visit *visit, void *context, struct gait_error *err)
{
    return tracepoint_list(spec->group, spec->name, visit, context, err);
}

static int check(struct gait_error *err)
{
    struct source_probe probe = {.attr.type = PERF_TYPE_TRACEPOINT};
    int result = tracepoint_describe("sched", "sched_switch", &probe, err);

    if (result != 0)
        return result;
    probe.attr.sample_type = PERF_SAMPLE_RAW;
    probe.attr.sample_period = 1;
    result = source_try(&probe.attr);
    source_probe_deinit(&probe);
    return result == 0 ? 0 : source_explain("tracepoints", result, err);
}

const struct source source_tracepoint = {
    .kind = PROBE_TRACEPOINT,
    .purpose = "static probes of the kernel, with fields",
    .check = check,
    .list = list,
    .resolve = resolve,
};
