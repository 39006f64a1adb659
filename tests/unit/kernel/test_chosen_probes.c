/* SPDX-License-Identifier: MIT */
#include "kernel/chosen_probes.h"

#include "support/check.h"

#include <errno.h>

static struct gait_error err;

static void globs_become_many(void)
{
    struct chosen_probes list = {.count = 0};

    CHECK_EQUAL(chosen_probes_add(&list, "software:*-faults", &err), 0);
    CHECK_EQUAL(list.count, 5);
    CHECK_TEXT(list.probes[0]->spec, "software:page-faults");
    CHECK_EQUAL(list.probes[0]->attr.sample_period, 1);
    /* What is there already does not come twice. */
    CHECK_EQUAL(chosen_probes_add(&list, "software:page-faults", &err), 0);
    CHECK_EQUAL(list.count, 5);
    CHECK_EQUAL(chosen_probes_add(&list, "profile:hz:100", &err), 0);
    CHECK_EQUAL(list.probes[5]->attr.sample_period, 10000000);
    chosen_probes_deinit(&list);
}

static void what_is_not_there_is_told(void)
{
    struct chosen_probes list = {.count = 0};

    CHECK_EQUAL(chosen_probes_add(&list, "software:nonsense", &err), -ENOENT);
    CHECK_EQUAL(chosen_probes_add(&list, "software:nonsense*", &err), -ENOENT);
    CHECK_EQUAL(chosen_probes_add(&list, "nonsense", &err), -EINVAL);
    CHECK_EQUAL(chosen_probes_add(&list, "uprobe:/nowhere:main", &err), -ENOENT);
    CHECK_EQUAL(list.count, 0);
    chosen_probes_deinit(&list);
}

static void values_are_found_for_programs(void)
{
    const struct kernel_field field = {.offset = 24, .size_bytes = 4, .count = 1, .type = KERNEL_FIELD_SIGNED};
    struct source_probe probe = {.raw = SOURCE_RAW_BYTES};
    struct program_value value;

    source_probe_add_field(&probe, &field, "fd");
    CHECK_EQUAL(probe_value_find(&probe, "fd", &value), 0);
    CHECK_EQUAL(value.offset, 24);
    CHECK_EQUAL(value.size_bytes, 4);
    CHECK_EQUAL(value.type, PROGRAM_SIGNED);
    CHECK_EQUAL(probe_value_find(&probe, "comm", &value), 0);
    CHECK_EQUAL(value.place, PROGRAM_COMM);
    CHECK_EQUAL(value.type, PROGRAM_CHARACTERS);
    CHECK_EQUAL(probe_value_find(&probe, "fds", &value), -ENOENT);
    /* A counter's fields are the sample's, of which programs know nothing. */
    probe.raw = SOURCE_RAW_PLACE;
    CHECK_EQUAL(probe_value_find(&probe, "fd", &value), -ENOENT);
}

static void arguments_have_numbers_besides_names(void)
{
    const struct program_value known = {
        .place = PROGRAM_AT_OFFSET, .type = PROGRAM_SIGNED, .offset = 16, .size_bytes = 4};
    struct source_probe probe = {
        .kind = PROBE_FENTRY, .raw = SOURCE_RAW_BYTES, .program = SOURCE_PROGRAM_ENTRY, .value_count = 3};
    struct program_value value;

    probe.values[2] = known;
    CHECK_EQUAL(probe_value_find(&probe, "arg1", &value), 0);
    CHECK_EQUAL(value.offset, 8);
    CHECK_EQUAL(value.size_bytes, 8);
    CHECK_EQUAL(probe_value_find(&probe, "arg2", &value), 0);
    CHECK_EQUAL(value.size_bytes, 4);
    CHECK_EQUAL(value.type, PROGRAM_SIGNED);
    CHECK_EQUAL(probe_value_find(&probe, "arg3", &value), -ENOENT);
    CHECK_EQUAL(probe_value_find(&probe, "arg", &value), -ENOENT);
    CHECK_EQUAL(probe_value_find(&probe, "arg1x", &value), -ENOENT);
    /* Where a function returns, registers hold no arguments any more. */
    probe.kind = PROBE_URETPROBE;
    CHECK_EQUAL(probe_value_find(&probe, "arg1", &value), -ENOENT);
}

static const struct check_case cases[] = {
    CHECK_CASE(globs_become_many),
    CHECK_CASE(what_is_not_there_is_told),
    CHECK_CASE(values_are_found_for_programs),
    CHECK_CASE(arguments_have_numbers_besides_names),
};

CHECK_MAIN(cases)
