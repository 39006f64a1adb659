/* SPDX-License-Identifier: MIT */
/*
 * Functions of the kernel, by its own breakpoints. As with programs, an event is a descriptor. Arguments are named by
 * the types by which the kernel describes itself.
 */
#define _GNU_SOURCE
#include "kernel/source.h"

#include "base/glob.h"
#include "hosted/error_text.h"
#include "kernel/function_fields.h"
#include "kernel/kernel_program.h"
#include "kernel/kernel_types.h"
#include "kernel/tracefs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE     "kprobe"
#define RETURN_BIT 1u

static int make(const struct probe_spec *spec, struct source_probe *probe)
{
    bool is_return = spec->kind == PROBE_KRETPROBE;
    struct function_values values;
    uint64_t mask = 0;
    uint32_t type;

    if (source_dynamic_type(DEVICE, &type) != 0)
        return -EOPNOTSUPP;
    probe->kind = spec->kind;
    probe->text = strdup(spec->name);
    probe->spec = strdup(spec->text);
    if (asprintf(&probe->name, spec->offset != 0 ? "%s+%" PRIu64 : "%s", spec->name, spec->offset) < 0)
        probe->name = NULL;
    if (probe->text == NULL || probe->spec == NULL || probe->name == NULL)
        return -ENOMEM;
    probe->attr = (struct perf_event_attr){
        .type = type,
        .config = is_return ? RETURN_BIT : 0,
        .config1 = (uint64_t)(uintptr_t)probe->text,
        .config2 = spec->offset,
        .sample_period = 1,
    };
    if (spec->offset != 0 || kernel_types_function(spec->name, &values) != 0)
        function_values_guess(&values);
    if (kernel_program_check(NULL) == 0) {
        function_fields_add_by_program(probe, &values, is_return);
        return 0;
    }
    function_fields_add(probe, &values, is_return, &mask);
    probe->attr.sample_regs_intr = mask;
    probe->attr.sample_type = mask == 0 ? 0 : PERF_SAMPLE_REGS_INTR;
    return 0;
}

static int resolve(const struct probe_spec *spec, struct source_probe *probe_out, struct gait_error *err)
{
    struct source_probe probe = {.kind = spec->kind};
    int result = make(spec, &probe);

    if (result == 0) {
        struct perf_event_attr attr = probe.program == SOURCE_PROGRAM_NONE ? probe.attr : probe.trigger;

        attr.sample_type = 0;
        result = source_try(&attr);
    }
    if (result == 0) {
        *probe_out = probe;
        return 0;
    }
    source_probe_deinit(&probe);
    if (result == -ENOENT || result == -EADDRNOTAVAIL)
        return error_set(err, ENOENT, "cannot watch %s: the kernel has no function '%s'", spec->text, spec->name);
    if (result == -EINVAL || result == -EILSEQ)
        return error_set(err, result, "cannot watch %s: the kernel does not allow a probe at that place", spec->text);
    return source_explain(spec->text, result, err);
}

/* What can be traced, one name a line, perhaps with " [module]" behind it. */
static int list(const struct probe_spec *spec, source_visit *visit, void *context, struct gait_error *err)
{
    char *text, *line, *rest;
    size_t size_bytes;
    int result = tracefs_read("available_filter_functions", &text, &size_bytes, err);

    if (result != 0)
        return result;
    for (line = strtok_r(text, "\n", &rest); line != NULL && result == 0; line = strtok_r(NULL, "\n", &rest)) {
        char wanted[512];

        line[strcspn(line, " \t")] = '\0';
        if (!glob_matches_string(spec->name, line))
            continue;
        snprintf(wanted, sizeof(wanted), "%s:%s", probe_kind_name(spec->kind), line);
        result = visit(context, wanted);
    }
    free(text);
    return result;
}

static int check(struct gait_error *err)
{
    struct perf_event_attr attr = {.sample_period = 1, .config1 = (uint64_t)(uintptr_t) "vfs_read"};
    int result = source_dynamic_type(DEVICE, &attr.type);

    if (result != 0)
        return error_set(err, EOPNOTSUPP,
                         "this kernel was built without kprobes (CONFIG_KPROBE_EVENTS); fentry may work");
    result = source_try(&attr);
    return result == 0 ? 0 : source_explain("functions of the kernel", result, err);
}

const struct source source_kprobe = {
    .kind = PROBE_KPROBE,
    .purpose = "calls of functions of the kernel",
    .check = check,
    .list = list,
    .resolve = resolve,
};

const struct source source_kretprobe = {
    .kind = PROBE_KRETPROBE,
    .purpose = "returns of functions of the kernel",
    .check = check,
    .list = list,
    .resolve = resolve,
};
