/* SPDX-License-Identifier: MIT */
#include "view/kernel_sched.h"

#include "trace/kernel_event_text.h"

#include <stdio.h>
#include <string.h>

#define RUNS   "sched:run"
#define STATES 0x3fu /* sleeping, waiting, stopped, traced, dead: the same in all kernels */

static bool has_runs(const struct kernel_sources *sources)
{
    for (uint32_t i = 1; i < sources->source_count; i++)
        if (sources->sources[i].id != 0 && strcmp(sources->sources[i].spec, RUNS) == 0)
            return true;
    return false;
}

bool kernel_sched_has(const struct kernel_sources *sources, const struct kernel_source *source)
{
    static const char *const specs[] = {
        RUNS,
        "software:page-faults:1",
        "tracepoint:sched:sched_switch",
        "tracepoint:sched:sched_wakeup",
        "tracepoint:sched:sched_waking",
        "tracepoint:sched:sched_process_fork",
        "tracepoint:syscalls:sys_enter_mmap",
    };

    for (size_t i = 0; source->id != 0 && i < sizeof(specs) / sizeof(specs[0]); i++)
        if (strcmp(source->spec, specs[i]) == 0)
            return has_runs(sources);
    return false;
}

int kernel_sched_init(struct kernel_sched *sched, const struct kernel_sources *sources)
{
    sched->sources = sources;
    sched->has_runs = has_runs(sources);
    return hash_map_init(&sched->running, 64);
}

void kernel_sched_deinit(struct kernel_sched *sched)
{
    hash_map_deinit(&sched->running);
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static struct kernel_value value_of(const struct kernel_source *source, const struct kernel_event *event,
                                    const char *name)
{
    const struct kernel_field *field = kernel_source_field(source, name);

    return field == NULL ? (struct kernel_value){.is_there = false}
                         : kernel_value_read(field, source->raw_base, event->raw, event->raw_bytes);
}

static uint64_t number_of(const struct kernel_source *source, const struct kernel_event *event, const char *name)
{
    struct kernel_value value = value_of(source, event, name);

    return value.is_there ? value.number : 0;
}

/* "prev" and "pid" are the field "prev_pid". */
static struct kernel_sched_thread thread_of(const struct kernel_source *source, const struct kernel_event *event,
                                            const char *prefix)
{
    struct kernel_sched_thread thread = {.tid = 0};
    char field[KERNEL_FIELD_NAME_SIZE];
    struct kernel_value value;

    snprintf(field, sizeof(field), "%spid", prefix);
    thread.tid = (uint32_t)number_of(source, event, field);
    snprintf(field, sizeof(field), "%sprio", prefix);
    thread.priority = (int32_t)number_of(source, event, field);
    snprintf(field, sizeof(field), "%scomm", prefix);
    value = value_of(source, event, field);
    if (value.is_there && value.is_text)
        snprintf(thread.name, sizeof(thread.name), "%.*s", (int)value.size_bytes, (const char *)value.bytes);
    return thread;
}

static struct kernel_sched_thread known_thread(const struct kernel_sched *sched, uint32_t tid, uint64_t time)
{
    struct kernel_sched_thread thread = {.tid = tid};

    if (tid != 0)
        snprintf(thread.name, sizeof(thread.name), "%s", kernel_sources_thread(sched->sources, tid, time));
    return thread;
}

/* ---- switches ---------------------------------------------------------------------------------------------------- */

static uint32_t running_on(const struct kernel_sched *sched, uint32_t cpu)
{
    uint64_t tid = 0;

    return hash_map_lookup(&sched->running, cpu, &tid) ? (uint32_t)tid : 0;
}

/* Without memory, a switch may be told twice. */
static void set_running(struct kernel_sched *sched, uint32_t cpu, uint32_t tid)
{
    (void)!hash_map_set(&sched->running, cpu, tid);
    hash_map_reclaim(&sched->running);
}

/* Who was pushed aside could go on; newer kernels say so with a bit behind all states, which others read otherwise. */
static uint32_t state_of(uint64_t told)
{
    if (told == 0 || told == 0x100 || told == 0x800)
        return KERNEL_SCHED_RUNNABLE;
    return (told & STATES) == 0 ? KERNEL_SCHED_SLEEPING : (uint32_t)(told & STATES);
}

/* Where runs are told, one that is watched says so next; of others it is not known how long they run. */
static void take_switch(struct kernel_sched *sched, const struct kernel_source *source,
                        const struct kernel_event *event, struct kernel_sched_change *change)
{
    change->kind = KERNEL_SCHED_SWITCH;
    change->from = thread_of(source, event, "prev_");
    if (!sched->has_runs)
        change->to = thread_of(source, event, "next_");
    change->state = state_of(number_of(source, event, "prev_state"));
    set_running(sched, event->cpu, change->to.tid);
}

/* The tracepoint, where it is watched, comes just before, and has told it better. */
static void take_run(struct kernel_sched *sched, const struct kernel_source *source, const struct kernel_event *event,
                     struct kernel_sched_change *change)
{
    bool is_running = number_of(source, event, "running") != 0;
    uint32_t before = running_on(sched, event->cpu);

    change->kind = (before == event->tid) == is_running ? KERNEL_SCHED_KNOWN : KERNEL_SCHED_SWITCH;
    if (change->kind == KERNEL_SCHED_KNOWN)
        return;
    change->from = known_thread(sched, is_running ? before : event->tid, event->time);
    change->to = known_thread(sched, is_running ? event->tid : 0, event->time);
    change->state =
        is_running || number_of(source, event, "preempted") != 0 ? KERNEL_SCHED_RUNNABLE : KERNEL_SCHED_SLEEPING;
    set_running(sched, event->cpu, change->to.tid);
}

static void take_waking(const struct kernel_source *source, const struct kernel_event *event,
                        struct kernel_sched_change *change)
{
    change->kind = strcmp(source->name, "sched_waking") == 0 ? KERNEL_SCHED_WAKING : KERNEL_SCHED_WAKEUP;
    change->from = thread_of(source, event, "");
    change->target_cpu = (uint32_t)number_of(source, event, "target_cpu");
}

void kernel_sched_take(struct kernel_sched *sched, const struct kernel_source *source, const struct kernel_event *event,
                       struct kernel_sched_change *change_out)
{
    static const char group[] = "tracepoint:sched:";

    *change_out = (struct kernel_sched_change){.kind = KERNEL_SCHED_OTHER};
    if (strcmp(source->spec, RUNS) == 0) {
        take_run(sched, source, event, change_out);
        return;
    }
    if (strncmp(source->spec, group, sizeof(group) - 1) != 0)
        return;
    if (strcmp(source->name, "sched_switch") == 0)
        take_switch(sched, source, event, change_out);
    else if (strcmp(source->name, "sched_waking") == 0 || strcmp(source->name, "sched_wakeup") == 0)
        take_waking(source, event, change_out);
}
