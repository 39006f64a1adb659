/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints are filtered by the kernel's own filters, which are per event. A program on a tracepoint runs for
 * all who look at it, so it is used for counting only, lets all events through, and samples none. Where what is
 * counted by can be had without the tracepoint's record, the program is at the raw tracepoint instead, and nobody
 * makes a record.
 */
#include "kernel/watch.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "kernel/program_setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- what programs are to do ------------------------------------------------------------------------------------- */

static int find_value(const struct source_probe *probe, const char *name, struct program_value *value,
                      struct gait_error *err)
{
    if (name == NULL) {
        *value = (struct program_value){.place = PROGRAM_NOTHING};
        return 0;
    }
    if (probe_value_find(probe, name, value) == 0)
        return 0;
    return error_set(err, ENOENT, "cannot count by '%s': %s has no such field; gait probe -l '%s' shows which it has",
                     name, probe->spec, probe->spec);
}

static int make_config(const struct watch *watch, size_t which, struct program_config *config, struct gait_error *err)
{
    const struct source_probe *probe = watch->list->probes[which];
    const struct watch_options *options = &watch->options;
    int result;

    *config = (struct program_config){
        .action = options->is_counting                    ? PROGRAM_COUNTS
                  : probe->program != SOURCE_PROGRAM_NONE ? PROGRAM_EMITS
                                                          : PROGRAM_PASSES,
        .source = (unsigned)which + 1,
        .result = probe->kind == PROBE_TRACEPOINT,
        .value_count = (unsigned)probe->value_count,
        .emit_bytes = probe->value_bytes == 0 ? sizeof(uint64_t) : (unsigned)probe->value_bytes,
        .has_measure = options->measure != NULL,
    };
    memcpy(config->values, probe->values, sizeof(config->values));
    result = find_value(probe, options->by, &config->key, err);
    if (result == 0)
        result = find_value(probe, options->measure, &config->measure, err);
    if (result == 0 && options->measure != NULL && config->measure.type == PROGRAM_CHARACTERS)
        return error_set(err, EINVAL, "cannot make a histogram of '%s': it is text", options->measure);
    if (result == 0 && options->condition != NULL)
        result = condition_parse(options->condition, probe, config, err);
    return result;
}

/* *is_fastened_out: it needs no event. */
static int load(struct watch *watch, size_t which, struct kernel_program **program_out, bool *is_fastened_out,
                struct gait_error *err)
{
    const struct source_probe *probe = watch->list->probes[which];
    struct program_config config;
    int result = make_config(watch, which, &config, err);

    *is_fastened_out = probe->program != SOURCE_PROGRAM_NONE && probe->program != SOURCE_PROGRAM_PROBE;
    if (result != 0)
        return result;
    if (config.action == PROGRAM_COUNTS && raw_tracepoint_counts(probe, &config)) {
        *is_fastened_out = true;
        return kernel_programs_load(&watch->programs, KERNEL_PROGRAM_RAW_TRACEPOINT, probe->name, &config, program_out,
                                    err);
    }
    return kernel_programs_load(&watch->programs, kernel_program_form_of(probe->kind),
                                probe->target == NULL ? probe->spec : probe->target, &config, program_out, err);
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

static int add_descriptor(struct watch *watch, int fd)
{
    if (ARRAY_RESERVE_NEXT(watch->descriptors, watch->descriptor_count) != 0) {
        close(fd);
        return -ENOMEM;
    }
    watch->descriptors[watch->descriptor_count++] = fd;
    return 0;
}

/*
 * One event is enough: the program that is fastened to it runs on all CPUs, for all processes, and chooses among them.
 * Counters count on each CPU of their own.
 */
static int fasten(struct watch *watch, const struct source_probe *probe, const struct kernel_program *program, int cpu,
                  struct gait_error *err)
{
    bool is_counter = probe->raw == SOURCE_RAW_PLACE;
    struct perf_event_attr attr = probe->program == SOURCE_PROGRAM_PROBE ? probe->trigger : probe->attr;
    int fd, result;

    attr.size = sizeof(attr);
    attr.sample_type = 0;
    attr.sample_regs_user = attr.sample_regs_intr = 0;
    attr.sample_period = is_counter ? attr.sample_period : 0;
    attr.disabled = 1;
    fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return source_explain(probe->spec, errno, err);
    if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, kernel_program_descriptor(program)) != 0) {
        result = source_explain(probe->spec, errno, err);
        close(fd);
        return result;
    }
    return add_descriptor(watch, fd);
}

static int count_all(struct watch *watch, struct gait_error *err)
{
    int result = 0;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    for (size_t i = 0; i < watch->list->count && result == 0; i++) {
        const struct source_probe *probe = watch->list->probes[i];
        struct kernel_program *program;
        bool is_fastened;

        result = load(watch, i, &program, &is_fastened, err);
        if (result != 0 || is_fastened)
            continue;
        for (int cpu = 0; result == 0 && cpu < (probe->raw == SOURCE_RAW_PLACE ? (int)cpus : 1); cpu++)
            result = fasten(watch, probe, program, cpu, err);
    }
    return result;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* The rings are those of the session. */
static int set_output(struct watch *watch, size_t which, struct kernel_program *program, struct gait_error *err)
{
    for (size_t cpu = 0; cpu < watch->session.cpu_count; cpu++) {
        int fd = perf_session_descriptor(&watch->session, which, cpu);
        int result = fd == -1 ? 0 : kernel_program_set_output(program, perf_session_cpu(&watch->session, cpu), fd);

        if (result != 0)
            return source_explain(watch->list->probes[which]->spec, result, err);
    }
    return 0;
}

static int set_filter(struct watch *watch, size_t which, struct gait_error *err)
{
    const struct source_probe *probe = watch->list->probes[which];
    int result = perf_session_filter(&watch->session, which, watch->options.condition);

    if (result == -EINVAL)
        return error_set(
            err, EINVAL,
            "cannot use the condition '%s': the kernel does not understand it for %s; gait probe -l %s shows "
            "the fields",
            watch->options.condition, probe->spec, probe->spec);
    return result == 0 ? 0 : source_explain(probe->spec, result, err);
}

static int set_up(struct watch *watch, size_t which, struct gait_error *err)
{
    const struct source_probe *probe = watch->list->probes[which];
    struct kernel_program *program;
    bool is_fastened;
    int result;

    if (probe->program == SOURCE_PROGRAM_NONE && watch->options.condition == NULL)
        return 0;
    if (probe->kind == PROBE_TRACEPOINT)
        return set_filter(watch, which, err);
    result = load(watch, which, &program, &is_fastened, err);
    if (result != 0)
        return result;
    if (probe->program != SOURCE_PROGRAM_NONE)
        result = set_output(watch, which, program, err);
    if (result == 0 && probe->program == SOURCE_PROGRAM_PROBE)
        result = fasten(watch, probe, program, 0, err);
    if (probe->program != SOURCE_PROGRAM_NONE)
        return result;
    result = perf_session_set_program(&watch->session, which, kernel_program_descriptor(program));
    return result == 0 ? 0 : source_explain(probe->spec, result, err);
}

int watch_open(struct watch *watch, struct chosen_probes *list, const struct watch_options *options,
               struct gait_error *err)
{
    int result;

    *watch = (struct watch){.options = *options, .list = list};
    kernel_programs_init(&watch->programs, options->session.pid);
    if (options->is_counting) {
        result = count_all(watch, err);
    } else {
        result = perf_session_create(&options->session, &watch->session, err);
        if (result == 0)
            result = perf_session_open(&watch->session, list->probes, list->count, err);
        for (size_t i = 0; i < list->count && result == 0; i++)
            result = set_up(watch, i, err);
    }
    if (result != 0)
        watch_close(watch);
    return result;
}

void watch_close(struct watch *watch)
{
    for (size_t i = 0; i < watch->descriptor_count; i++)
        close(watch->descriptors[i]);
    free(watch->descriptors);
    kernel_programs_deinit(&watch->programs);
    perf_session_destroy(&watch->session);
    *watch = (struct watch){.descriptor_count = 0};
}

int watch_start(struct watch *watch, struct gait_error *err)
{
    int result = watch->options.is_counting ? 0 : perf_session_enable(&watch->session, err);

    for (size_t i = 0; i < watch->descriptor_count && result == 0; i++)
        if (ioctl(watch->descriptors[i], PERF_EVENT_IOC_ENABLE, 0) != 0)
            result = source_explain("anything", errno, err);
    return result == 0 ? kernel_programs_start(&watch->programs, err) : result;
}
