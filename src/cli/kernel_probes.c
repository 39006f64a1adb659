/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/kernel_probes.h"

#include "cli/options/nearest_name.h"
#include "cli/options/record_options.h"
#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "kernel/perf_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- suggestions ------------------------------------------------------------------------------------------------- */

static int offer_name(void *context, const char *spec)
{
    const char *colon = strrchr(spec, ':');

    nearest_names_offer_other(context, colon + 1, strlen(colon + 1));
    return 0;
}

void kernel_probes_suggest(const char *text, struct gait_error *err)
{
    struct nearest_names nearest;
    struct probe_spec spec;
    struct gait_error ignored;
    char names[3 * NEAREST_NAME_BYTES];
    size_t used = strlen(err->text);

    if (probe_spec_parse(text, &spec, &ignored) != 0)
        return;
    nearest_names_init(&nearest, spec.name);
    spec.name = "*";
    spec.is_glob = true;
    if (source_list(&spec, offer_name, &nearest, &ignored) == 0 && nearest.count > 0) {
        nearest_names_join(&nearest, names, sizeof(names));
        snprintf(err->text + used, sizeof(err->text) - used, "; did you mean %s?", names);
    } else {
        snprintf(err->text + used, sizeof(err->text) - used, "; gait probe -l lists what there is");
    }
    probe_spec_deinit(&spec);
}

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

/* Switches come as news of the rings, not as events of their own: this one never happens. */
static int add_switches(struct kernel_probes *probes)
{
    const struct kernel_field running = {.size_bytes = 4, .count = 1, .type = KERNEL_FIELD_UNSIGNED};
    struct kernel_field preempted = running;
    struct source_probe *probe;

    if (ARRAY_RESERVE_NEXT(probes->list.probes, probes->list.count) != 0)
        return -ENOMEM;
    probe = calloc(1, sizeof(*probe));
    if (probe == NULL)
        return -ENOMEM;
    *probe = (struct source_probe){
        .kind = PROBE_SOFTWARE,
        .spec = strdup("sched:run"),
        .name = strdup("run"),
        .attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .sample_period = 1},
    };
    preempted.offset = 4;
    source_probe_add_field(probe, &running, "running");
    source_probe_add_field(probe, &preempted, "preempted");
    probes->list.probes[probes->list.count++] = probe;
    probes->switch_source = probes->list.count;
    return probe->spec == NULL || probe->name == NULL ? -ENOMEM : 0;
}

/* What this kernel lacks of these is left out. */
static int add_sched(struct kernel_probes *probes, struct gait_error *err)
{
    static const char *const specs[] = {
        "software:page-faults:1",        "tracepoint:sched:sched_switch",       "tracepoint:sched:sched_wakeup",
        "tracepoint:sched:sched_waking", "tracepoint:sched:sched_process_fork", "tracepoint:syscalls:sys_enter_mmap",
    };
    struct gait_error ignored;
    size_t before = probes->list.count;

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
        (void)!chosen_probes_add(&probes->list, specs[i], &ignored);
    if (probes->list.count == before)
        return error_set(err, ENOENT, "cannot watch when threads run: %s", ignored.text);
    return add_switches(probes) == 0 ? 0 : error_set(err, ENOMEM, "cannot watch when threads run: there is no memory");
}

/*
 * A breakpoint of the kernel's is in the memory of the process, where the agent reads the code that it hooks or
 * translates: it would take it for an instruction of the program, and the program would go wrong.
 */
static int check_places(const struct chosen_probes *list, struct gait_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        enum probe_kind kind = list->probes[i]->kind;

        if (kind == PROBE_UPROBE || kind == PROBE_URETPROBE || kind == PROBE_USDT)
            return error_set(err, EINVAL,
                             "cannot watch %s: breakpoints of the kernel cannot be in a program that gait itself hooks "
                             "or follows; try --hook %s instead, or gait probe",
                             list->probes[i]->spec, list->probes[i]->name);
    }
    return 0;
}

int kernel_probes_find(struct kernel_probes *probes, const struct option_list *specs, bool with_sched,
                       struct gait_error *err)
{
    int result = 0;

    *probes = (struct kernel_probes){.recorder = NULL};
    for (size_t i = 0; i < specs->count && result == 0; i++) {
        result = chosen_probes_add(&probes->list, specs->texts[i], err);
        if (result == -ENOENT)
            kernel_probes_suggest(specs->texts[i], err);
    }
    if (result == 0)
        result = check_places(&probes->list, err);
    if (result == 0 && with_sched)
        result = add_sched(probes, err);
    if (result != 0)
        chosen_probes_deinit(&probes->list);
    return result;
}

/* ---- recording --------------------------------------------------------------------------------------------------- */

/* A profile is of stacks. Of processes with an agent it is known what is where in them. */
static void want_stacks(const struct chosen_probes *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->probes[i]->kind == PROBE_PROFILE)
            list->probes[i]->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
}

int kernel_probes_begin(struct kernel_probes *probes, const struct kernel_probes_target *target, struct gait_error *err)
{
    const struct watch_options wanted = {
        .session = {.pid = target->pid, .with_switches = probes->switch_source != 0},
    };
    const struct kernel_recorder_options recorder = {
        .folder = target->folder,
        .compress = target->compress,
        .list = &probes->list,
        .switch_source = (uint32_t)probes->switch_source,
    };
    int result;

    if (probes->list.count == 0)
        return 0;
    want_stacks(&probes->list);
    result = watch_open(&probes->watch, &probes->list, &wanted, err);
    if (result != 0)
        return result;
    result = kernel_recorder_create(&recorder, &probes->recorder, err);
    if (result == 0)
        result = watch_start(&probes->watch, err);
    if (result != 0 && probes->recorder != NULL)
        (void)!kernel_recorder_end(probes->recorder, &probes->watch.session);
    if (result != 0) {
        probes->recorder = NULL;
        watch_close(&probes->watch);
    }
    return result;
}

int kernel_probes_step(struct kernel_probes *probes, struct gait_error *err)
{
    struct perf_receiver receiver;
    int result;

    if (probes->recorder == NULL)
        return 0;
    receiver = kernel_recorder_receiver(probes->recorder);
    (void)perf_reader_drain(&probes->watch.session, &receiver, false);
    result = kernel_recorder_flush(probes->recorder);
    return result == 0 ? 0 : error_set(err, result, "cannot write events of the kernel: %s", strerror(-result));
}

uint64_t kernel_probes_end(struct kernel_probes *probes)
{
    uint64_t count = 0;

    if (probes->recorder != NULL) {
        struct perf_receiver receiver = kernel_recorder_receiver(probes->recorder);

        perf_session_disable(&probes->watch.session);
        (void)perf_reader_drain(&probes->watch.session, &receiver, true);
        count = kernel_recorder_events(probes->recorder);
        (void)!kernel_recorder_end(probes->recorder, &probes->watch.session);
        watch_close(&probes->watch);
    }
    chosen_probes_deinit(&probes->list);
    *probes = (struct kernel_probes){.recorder = NULL};
    return count;
}
