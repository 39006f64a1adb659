/* SPDX-License-Identifier: MIT */
#include "view/kernel_sched.h"

#include "support/check.h"
#include "support/kernel_trace.h"

static struct trace_folder folder;
static struct trace_files files;
static struct kernel_sources sources;
static struct gait_error err;

static void open_sources(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    kernel_trace_put_run(&folder);
    CHECK_EQUAL(trace_files_open(&files, folder.path, &err), 0);
    CHECK_EQUAL(kernel_events_sources(&files, &sources, &err), 0);
}

static void close_sources(void)
{
    kernel_sources_deinit(&sources);
    trace_files_close(&files);
    trace_folder_deinit(&folder);
}

static void runs_are_switches(void)
{
    static const struct {
        enum kernel_sched_kind kind;
        uint32_t from, to, state;
    } wanted[] = {
        {KERNEL_SCHED_SWITCH, 0, 100, KERNEL_SCHED_RUNNABLE},
        {KERNEL_SCHED_OTHER, 0, 0, 0},
        {KERNEL_SCHED_OTHER, 0, 0, 0},
        {KERNEL_SCHED_SWITCH, 100, 0, KERNEL_SCHED_SLEEPING},
        {KERNEL_SCHED_WAKING, 100, 0, 0},
        {KERNEL_SCHED_SWITCH, 0, 100, KERNEL_SCHED_RUNNABLE},
        {KERNEL_SCHED_SWITCH, 100, 0, KERNEL_SCHED_RUNNABLE},
    };
    struct kernel_sched_change change;
    struct kernel_events events;
    struct kernel_event event;
    struct kernel_sched sched;
    size_t count = 0;

    open_sources();
    CHECK_EQUAL(kernel_sched_init(&sched, &sources), 0);
    CHECK_EQUAL(kernel_events_open(&events, &files, &err), 0);
    for (; kernel_events_next(&events, &event) && count < 7; count++) {
        kernel_sched_take(&sched, kernel_sources_find(&sources, event.source), &event, &change);
        CHECK_EQUAL(change.kind, wanted[count].kind);
        CHECK_EQUAL(change.from.tid, wanted[count].from);
        CHECK_EQUAL(change.to.tid, wanted[count].to);
        CHECK_EQUAL(change.state, wanted[count].state);
        if (change.from.tid == 100)
            CHECK_TEXT(change.from.name, "early");
        if (change.kind == KERNEL_SCHED_WAKING)
            CHECK_EQUAL(change.target_cpu, 1);
    }
    CHECK_EQUAL(count, 7);
    kernel_events_close(&events);
    kernel_sched_deinit(&sched);
    close_sources();
}

struct switched {
    char prev_comm[16];
    int32_t prev_pid, prev_prio;
    int64_t prev_state;
    char next_comm[16];
    int32_t next_pid, next_prio;
};

static struct kernel_field switch_fields[] = {
    {.offset = 0, .size_bytes = 16, .count = 1, .type = KERNEL_FIELD_STRING, .name = "prev_comm"},
    {.offset = 16, .size_bytes = 4, .count = 1, .type = KERNEL_FIELD_SIGNED, .name = "prev_pid"},
    {.offset = 20, .size_bytes = 4, .count = 1, .type = KERNEL_FIELD_SIGNED, .name = "prev_prio"},
    {.offset = 24, .size_bytes = 8, .count = 1, .type = KERNEL_FIELD_SIGNED, .name = "prev_state"},
    {.offset = 32, .size_bytes = 16, .count = 1, .type = KERNEL_FIELD_STRING, .name = "next_comm"},
    {.offset = 48, .size_bytes = 4, .count = 1, .type = KERNEL_FIELD_SIGNED, .name = "next_pid"},
    {.offset = 52, .size_bytes = 4, .count = 1, .type = KERNEL_FIELD_SIGNED, .name = "next_prio"},
};

static const struct kernel_source switches = {
    .id = 4,
    .spec = (char *)(uintptr_t) "tracepoint:sched:sched_switch",
    .name = (char *)(uintptr_t) "sched_switch",
    .fields = switch_fields,
    .field_count = 7,
};

static struct kernel_sched_change switch_to(struct kernel_sched *sched, int64_t state)
{
    const struct switched fields = {"early", 100, 120, state, "other", 200, 98};
    const struct kernel_event event = {.source = 4, .tid = 100, .raw = (const uint8_t *)&fields, .raw_bytes = 56};
    struct kernel_sched_change change;

    kernel_sched_take(sched, &switches, &event, &change);
    return change;
}

static void the_tracepoint_tells_both(void)
{
    struct kernel_sources none = {.source_count = 0};
    struct kernel_sched_change change;
    struct kernel_sched sched;

    CHECK_EQUAL(kernel_sched_init(&sched, &none), 0);
    change = switch_to(&sched, 2);
    CHECK_EQUAL(change.kind, KERNEL_SCHED_SWITCH);
    CHECK_EQUAL(change.from.tid, 100);
    CHECK_EQUAL(change.from.priority, 120);
    CHECK_EQUAL(change.to.tid, 200);
    CHECK_TEXT(change.to.name, "other");
    CHECK_EQUAL(change.state, KERNEL_SCHED_UNINTERRUPTIBLE);
    /* Pushed aside; and a kernel's thread without anything to do. */
    CHECK_EQUAL(switch_to(&sched, 0x100).state, KERNEL_SCHED_RUNNABLE);
    CHECK_EQUAL(switch_to(&sched, 0x80).state, KERNEL_SCHED_SLEEPING);
    kernel_sched_deinit(&sched);
}

static void what_both_tell_is_told_once(void)
{
    const uint32_t out[2] = {0, 0}, in[2] = {1, 0};
    struct kernel_event event = {.source = 2, .tid = 100, .raw = (const uint8_t *)in, .raw_bytes = 8};
    struct kernel_sched_change change;
    struct kernel_sched sched;

    open_sources();
    CHECK_EQUAL(kernel_sched_init(&sched, &sources), 0);
    kernel_sched_take(&sched, kernel_sources_find(&sources, 2), &event, &change);
    CHECK_EQUAL(change.kind, KERNEL_SCHED_SWITCH);
    change = switch_to(&sched, 2);
    CHECK_EQUAL(change.state, KERNEL_SCHED_UNINTERRUPTIBLE);
    /* Who comes is not known to be watched. */
    CHECK_EQUAL(change.to.tid, 0);
    event.raw = (const uint8_t *)out;
    kernel_sched_take(&sched, kernel_sources_find(&sources, 2), &event, &change);
    CHECK_EQUAL(change.kind, KERNEL_SCHED_KNOWN);
    kernel_sched_deinit(&sched);
    close_sources();
}

static const struct check_case cases[] = {
    CHECK_CASE(runs_are_switches),
    CHECK_CASE(the_tracepoint_tells_both),
    CHECK_CASE(what_both_tell_is_told_once),
};

CHECK_MAIN(cases)
