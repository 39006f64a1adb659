/* SPDX-License-Identifier: MIT */
#include "kernel/program_setup.h"

#include "kernel/chosen_probes.h"
#include "kernel/kernel_types.h"
#include "support/check.h"

static struct gait_error err;
static struct chosen_probes list;
static struct program_config config;

/* A program that counts by a value of a probe, or by nothing. */
static const struct source_probe *begin(const char *spec, const char *by)
{
    const struct source_probe *probe;

    chosen_probes_deinit(&list);
    if (chosen_probes_add(&list, spec, &err) != 0)
        check_skip(err.text);
    probe = list.probes[0];
    config = (struct program_config){.action = PROGRAM_COUNTS, .key = {.place = PROGRAM_NOTHING}};
    if (by != NULL)
        CHECK_EQUAL(probe_value_find(probe, by, &config.key), 0);
    return probe;
}

static void system_calls_are_counted_by_their_arguments(void)
{
    const struct source_probe *probe = begin("tracepoint:raw_syscalls:sys_enter", "id");

    CHECK(raw_tracepoint_counts(probe, &config));
    CHECK_EQUAL(config.key.offset, 8);
    CHECK_EQUAL(config.key.size_bytes, 8);
    probe = begin("tracepoint:raw_syscalls:sys_exit", NULL);
    config.has_measure = 1;
    CHECK_EQUAL(probe_value_find(probe, "ret", &config.measure), 0);
    CHECK_EQUAL(config.measure.offset, 16);
    CHECK(raw_tracepoint_counts(probe, &config));
    CHECK_EQUAL(config.measure.offset, 8);
    CHECK_EQUAL(config.measure.type, PROGRAM_SIGNED);
}

static void who_it_was_needs_no_record(void)
{
    CHECK(raw_tracepoint_counts(begin("tracepoint:sched:sched_switch", NULL), &config));
    CHECK(raw_tracepoint_counts(begin("tracepoint:sched:sched_switch", "comm"), &config));
}

static void what_only_the_record_says_needs_it(void)
{
    const struct source_probe *probe = begin("tracepoint:sched:sched_switch", "prev_pid");
    unsigned offset = config.key.offset;

    CHECK(!raw_tracepoint_counts(probe, &config));
    CHECK_EQUAL(config.key.offset, offset);
    probe = begin("tracepoint:raw_syscalls:sys_exit", "ret");
    config.condition_count = 1;
    CHECK_EQUAL(probe_value_find(probe, "id", &config.conditions[0].value), 0);
    CHECK(!raw_tracepoint_counts(probe, &config));
    CHECK_EQUAL(config.key.offset, 16);
}

static void what_is_no_tracepoint_of_its_own_stays(void)
{
    CHECK(!raw_tracepoint_counts(begin("tracepoint:syscalls:sys_enter_getppid", NULL), &config));
    CHECK(!raw_tracepoint_counts(begin("software:page-faults", NULL), &config));
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(system_calls_are_counted_by_their_arguments),
        CHECK_CASE(who_it_was_needs_no_record),
        CHECK_CASE(what_only_the_record_says_needs_it),
        CHECK_CASE(what_is_no_tracepoint_of_its_own_stays),
    };
    int result;

    if (kernel_types_check() != 0)
        check_skip("the kernel does not tell its types");
    result = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    chosen_probes_deinit(&list);
    return result;
}
