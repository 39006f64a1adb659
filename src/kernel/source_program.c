/* SPDX-License-Identifier: MIT */
/*
 * Places that only programs in the kernel can be at: raw tracepoints, and entries and exits of the kernel's functions
 * without a breakpoint. They write what they see into the same rings. Arguments are named by the kernel's types.
 */
#define _GNU_SOURCE
#include "kernel/source.h"

#include "hosted/error_text.h"
#include "kernel/kernel_program.h"
#include "kernel/kernel_types.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void add_value(struct source_probe *probe, const struct function_value *value, size_t which, const char *name)
{
    const struct program_value wanted = {
        .place = PROGRAM_AT_OFFSET,
        .type = value->is_string                     ? PROGRAM_KERNEL_STRING
                : value->type == KERNEL_FIELD_SIGNED ? PROGRAM_SIGNED
                                                     : PROGRAM_UNSIGNED,
        .offset = (unsigned)(which * sizeof(uint64_t)),
        .size_bytes = value->size_bytes,
    };

    source_probe_add_value(probe, &wanted, value->type, value->name[0] == '\0' ? name : value->name);
}

static void describe(struct source_probe *probe, const struct function_values *values)
{
    for (size_t i = 0; i < values->argument_count; i++) {
        char name[32];

        snprintf(name, sizeof(name), "arg%zu", i);
        add_value(probe, &values->arguments[i], values->arguments[i].place, name);
    }
    /* Behind the arguments. */
    if (probe->program == SOURCE_PROGRAM_EXIT && values->has_result)
        add_value(probe, &values->result, values->argument_count, "retval");
}

static int find_values(const struct probe_spec *spec, struct function_values *values, struct gait_error *err)
{
    int result = spec->kind == PROBE_RAWTRACEPOINT ? kernel_types_tracepoint(spec->name, values)
                                                   : kernel_types_function(spec->name, values);

    if (result == -ENOTSUP)
        return kernel_program_check(err);
    if (result == 0)
        return 0;
    if (kernel_types_check() != 0)
        return error_set(
            err, ENOENT,
            "cannot watch %s: this kernel does not describe its types (no /sys/kernel/btf/vmlinux); try kprobe",
            spec->text);
    return error_set(err, ENOENT, "cannot watch %s: the kernel has no %s '%s'", spec->text,
                     spec->kind == PROBE_RAWTRACEPOINT ? "tracepoint" : "function", spec->name);
}

static int resolve(const struct probe_spec *spec, struct source_probe *probe_out, struct gait_error *err)
{
    struct source_probe probe = {
        .kind = spec->kind,
        .attr = {.type = PERF_TYPE_SOFTWARE,
                 .config = PERF_COUNT_SW_BPF_OUTPUT,
                 .sample_period = 1,
                 .sample_type = PERF_SAMPLE_RAW},
        .raw = SOURCE_RAW_BYTES,
        .program = spec->kind == PROBE_RAWTRACEPOINT ? SOURCE_PROGRAM_RAW_TRACEPOINT
                   : spec->kind == PROBE_FENTRY      ? SOURCE_PROGRAM_ENTRY
                                                     : SOURCE_PROGRAM_EXIT,
    };
    struct function_values values;
    int result = find_values(spec, &values, err);

    if (result != 0)
        return result;
    probe.spec = strdup(spec->text);
    probe.name = strdup(spec->name);
    probe.target = strdup(spec->name);
    if (probe.spec == NULL || probe.name == NULL || probe.target == NULL) {
        source_probe_deinit(&probe);
        return error_set(err, ENOMEM, "cannot watch %s: there is no memory", spec->text);
    }
    describe(&probe, &values);
    *probe_out = probe;
    return 0;
}

/* ---- listing ----------------------------------------------------------------------------------------------------- */

struct program_listing {
    enum probe_kind kind;
    source_visit *visit;
    void *context;
};

static int visit_name(void *context, const char *name)
{
    const struct program_listing *listing = context;
    char spec[512];

    snprintf(spec, sizeof(spec), "%s:%s", probe_kind_name(listing->kind), name);
    return listing->visit(listing->context, spec);
}

static int list(const struct probe_spec *spec, source_visit *visit, void *context, struct gait_error *err)
{
    struct program_listing listing = {spec->kind, visit, context};
    int result = spec->kind == PROBE_RAWTRACEPOINT ? kernel_types_list_tracepoints(spec->name, visit_name, &listing)
                                                   : kernel_types_list(spec->name, visit_name, &listing);

    if (result == -ENOTSUP)
        return kernel_program_check(err);
    if (result == -ENOENT)
        return error_set(err, ENOENT,
                         "cannot list %s: this kernel does not describe its types (no /sys/kernel/btf/vmlinux)",
                         probe_kind_name(spec->kind));
    return result;
}

/* ---- what is possible -------------------------------------------------------------------------------------------- */

static int check_form(enum kernel_program_form form, const char *target, struct gait_error *err)
{
    struct program_config config = {.action = PROGRAM_EMITS};
    struct kernel_programs programs;
    struct kernel_program *program;
    int result = kernel_types_check();

    if (result == -ENOENT)
        return error_set(err, ENOENT, "this kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)");
    kernel_programs_init(&programs, 0);
    result = kernel_programs_load(&programs, form, target, &config, &program, err);
    if (result == 0)
        result = kernel_programs_start(&programs, err);
    kernel_programs_deinit(&programs);
    return result;
}

/* These hardly ever happen. */
static int check_raw_tracepoint(struct gait_error *err)
{
    return check_form(KERNEL_PROGRAM_RAW_TRACEPOINT, "sched_process_hang", err);
}

static int check_entry(struct gait_error *err)
{
    return check_form(KERNEL_PROGRAM_ENTRY, "bpf_fentry_test1", err);
}

static int check_exit(struct gait_error *err)
{
    return check_form(KERNEL_PROGRAM_EXIT, "bpf_fentry_test1", err);
}

const struct source source_rawtracepoint = {
    .kind = PROBE_RAWTRACEPOINT,
    .purpose = "tracepoints as the kernel calls them, quicker and without fields of their own",
    .check = check_raw_tracepoint,
    .list = list,
    .resolve = resolve,
};

const struct source source_fentry = {
    .kind = PROBE_FENTRY,
    .purpose = "calls of functions of the kernel, without a breakpoint",
    .check = check_entry,
    .list = list,
    .resolve = resolve,
};

const struct source source_fexit = {
    .kind = PROBE_FEXIT,
    .purpose = "returns of functions of the kernel, with their arguments and without a breakpoint",
    .check = check_exit,
    .list = list,
    .resolve = resolve,
};
