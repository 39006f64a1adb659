/* SPDX-License-Identifier: MIT */
#include "kernel/function_fields.h"

#include "arch/perf_registers.h"
#include "support/check.h"

static struct source_probe probe;

static void places_follow_from_the_mask(void)
{
    const struct perf_registers *registers = perf_registers_host();
    struct function_values values;
    uint64_t mask;

    probe = (struct source_probe){.kind = PROBE_UPROBE};
    function_values_guess(&values);
    function_fields_add(&probe, &values, false, &mask);
    CHECK_EQUAL(probe.field_count, registers->argument_count);
    CHECK_EQUAL(__builtin_popcountll(mask), registers->argument_count);
    for (size_t i = 0; i < probe.field_count; i++) {
        unsigned bit = registers->all[registers->arguments[i]].perf_number;

        CHECK_EQUAL(probe.fields[i].offset, 8 * __builtin_popcountll(mask & ((1ull << bit) - 1)));
    }
    CHECK_TEXT(probe.fields[0].name, "arg0");
}

static void results_are_one_register(void)
{
    struct function_values values;
    uint64_t mask;

    probe = (struct source_probe){.kind = PROBE_URETPROBE};
    function_values_guess(&values);
    function_fields_add(&probe, &values, true, &mask);
    CHECK_EQUAL(probe.field_count, 1);
    CHECK_TEXT(probe.fields[0].name, "retval");
    CHECK_EQUAL(__builtin_popcountll(mask), 1);
    values.has_result = false;
    probe.field_count = 0;
    function_fields_add(&probe, &values, true, &mask);
    CHECK_EQUAL(probe.field_count, 0);
    CHECK_EQUAL(mask, 0);
}

static void what_is_in_no_register_is_left_out(void)
{
    struct function_values values = {.is_known = true,
                                     .argument_count = 2,
                                     .arguments = {{.name = "real", .size_bytes = 8, .place = 255},
                                                   {.name = "whole", .size_bytes = 4, .type = KERNEL_FIELD_SIGNED}}};
    uint64_t mask;

    probe = (struct source_probe){.kind = PROBE_UPROBE};
    function_fields_add(&probe, &values, false, &mask);
    CHECK_EQUAL(probe.field_count, 1);
    CHECK_TEXT(probe.fields[0].name, "whole");
    CHECK_EQUAL(probe.fields[0].size_bytes, 4);
}

static void programs_take_text(void)
{
    struct function_values values = {
        .is_known = true,
        .argument_count = 3,
        .arguments = {{.name = "path", .size_bytes = 8, .type = KERNEL_FIELD_HEX, .is_string = true},
                      {.name = "flags", .size_bytes = 4, .type = KERNEL_FIELD_SIGNED, .place = 1},
                      {.name = "", .size_bytes = 8, .type = KERNEL_FIELD_HEX, .is_string = true, .place = 2}}};

    probe = (struct source_probe){.kind = PROBE_UPROBE, .attr = {.type = 8, .config2 = 0x1234}};
    function_fields_add_by_program(&probe, &values, false);
    CHECK_EQUAL(probe.program, SOURCE_PROGRAM_PROBE);
    CHECK_EQUAL(probe.trigger.config2, 0x1234);
    CHECK_EQUAL(probe.attr.config, PERF_COUNT_SW_BPF_OUTPUT);
    CHECK_EQUAL(probe.value_count, 3);
    CHECK_EQUAL(probe.value_bytes, 3 * 8 + 2 * PROGRAM_STRING_BYTES);
    CHECK_EQUAL(probe.values[0].type, PROGRAM_USER_STRING);
    CHECK_EQUAL(probe.fields[0].type, KERNEL_FIELD_FAR_STRING);
    CHECK_EQUAL(probe.fields[1].offset, 8);
    CHECK_EQUAL(probe.fields[1].type, KERNEL_FIELD_SIGNED);
    CHECK_TEXT(probe.fields[2].name, "arg2");
}

static void more_text_than_there_is_room_for_is_addresses(void)
{
    const struct program_value value = {.type = PROGRAM_USER_STRING, .size_bytes = 8};

    probe = (struct source_probe){.kind = PROBE_UPROBE};
    for (unsigned i = 0; i < PROGRAM_VALUES_MAX + 3; i++)
        source_probe_add_value(&probe, &value, KERNEL_FIELD_HEX, "text");
    CHECK_EQUAL(probe.value_count, PROGRAM_VALUES_MAX);
    CHECK_EQUAL(probe.field_count, PROGRAM_VALUES_MAX);
    CHECK_EQUAL(probe.fields[PROGRAM_STRINGS_MAX - 1].type, KERNEL_FIELD_FAR_STRING);
    CHECK_EQUAL(probe.fields[PROGRAM_STRINGS_MAX].type, KERNEL_FIELD_HEX);
    CHECK_EQUAL(probe.value_bytes, PROGRAM_VALUES_MAX * 8 + PROGRAM_STRINGS_MAX * PROGRAM_STRING_BYTES);
}

static const struct check_case cases[] = {
    CHECK_CASE(places_follow_from_the_mask),
    CHECK_CASE(results_are_one_register),
    CHECK_CASE(what_is_in_no_register_is_left_out),
    CHECK_CASE(programs_take_text),
    CHECK_CASE(more_text_than_there_is_room_for_is_addresses),
};

CHECK_MAIN(cases)
