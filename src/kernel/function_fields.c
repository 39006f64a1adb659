/* SPDX-License-Identifier: MIT */
/* Registers come in the order of their numbers, a u64 each: a field's place follows from the mask. */
#include "kernel/function_fields.h"

#include "arch/perf_registers.h"

#include <stdio.h>
#include <string.h>

void function_values_guess(struct function_values *values)
{
    const struct perf_registers *registers = perf_registers_host();

    *values = (struct function_values){
        .argument_count = registers->argument_count,
        .has_result = true,
        .result = {.name = "retval", .size_bytes = 8, .type = KERNEL_FIELD_HEX},
    };
    for (size_t i = 0; i < registers->argument_count; i++) {
        values->arguments[i] = (struct function_value){.size_bytes = 8, .type = KERNEL_FIELD_HEX, .place = (uint8_t)i};
        snprintf(values->arguments[i].name, sizeof(values->arguments[i].name), "arg%zu", i);
    }
}

void source_probe_add_value(struct source_probe *probe, const struct program_value *value, uint32_t type,
                            const char *name)
{
    bool is_string = value->type == PROGRAM_KERNEL_STRING || value->type == PROGRAM_USER_STRING;
    size_t strings = 0;
    struct kernel_field field = {
        .offset = (uint32_t)(probe->value_count * sizeof(uint64_t)),
        .size_bytes = value->size_bytes,
        .count = 1,
        .type = type,
    };

    if (probe->value_count == PROGRAM_VALUES_MAX)
        return;
    for (size_t i = 0; i < probe->value_count; i++)
        strings += probe->values[i].type == PROGRAM_KERNEL_STRING || probe->values[i].type == PROGRAM_USER_STRING;
    probe->values[probe->value_count] = *value;
    if (is_string && strings == PROGRAM_STRINGS_MAX)
        probe->values[probe->value_count].type = PROGRAM_UNSIGNED;
    else if (is_string) {
        field.size_bytes = sizeof(uint32_t);
        field.type = KERNEL_FIELD_FAR_STRING;
        strings++;
    }
    probe->value_count++;
    probe->value_bytes = probe->value_count * sizeof(uint64_t) + strings * PROGRAM_STRING_BYTES;
    source_probe_add_field(probe, &field, name);
}

void source_probe_use_program(struct source_probe *probe)
{
    probe->program = SOURCE_PROGRAM_PROBE;
    probe->raw = SOURCE_RAW_BYTES;
    probe->trigger = probe->attr;
    probe->attr = (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
                                           .config = PERF_COUNT_SW_BPF_OUTPUT,
                                           .sample_period = 1,
                                           .sample_type = PERF_SAMPLE_RAW};
}

static void add_register(struct source_probe *probe, const struct function_value *value, size_t which, const char *name)
{
    bool is_kernel = probe->kind == PROBE_KPROBE || probe->kind == PROBE_KRETPROBE;
    const struct program_value wanted = {
        .place = PROGRAM_AT_OFFSET,
        .type = value->is_string                     ? (is_kernel ? PROGRAM_KERNEL_STRING : PROGRAM_USER_STRING)
                : value->type == KERNEL_FIELD_SIGNED ? PROGRAM_SIGNED
                                                     : PROGRAM_UNSIGNED,
        .offset = perf_registers_host()->all[which].saved_offset,
        .size_bytes = value->size_bytes,
    };

    source_probe_add_value(probe, &wanted, value->type, value->name[0] == '\0' ? name : value->name);
}

void function_fields_add_by_program(struct source_probe *probe, const struct function_values *values, bool is_return)
{
    const struct perf_registers *registers = perf_registers_host();

    if (is_return && values->has_result)
        add_register(probe, &values->result, registers->result, "retval");
    for (size_t i = 0; !is_return && i < values->argument_count; i++) {
        char name[32];

        snprintf(name, sizeof(name), "arg%zu", i);
        if (values->arguments[i].place < registers->argument_count)
            add_register(probe, &values->arguments[i], registers->arguments[values->arguments[i].place], name);
    }
    source_probe_use_program(probe);
}

static void add(struct source_probe *probe, const struct function_value *value, unsigned bit, uint64_t mask,
                const char *name)
{
    const struct kernel_field field = {
        .offset = 8 * (uint32_t)__builtin_popcountll(mask & ((1ull << bit) - 1)),
        .size_bytes = value->size_bytes,
        .count = 1,
        .type = value->type,
    };

    source_probe_add_field(probe, &field, value->name[0] == '\0' ? name : value->name);
}

static unsigned bit_of(const struct function_value *value)
{
    const struct perf_registers *registers = perf_registers_host();

    return registers->all[registers->arguments[value->place]].perf_number;
}

static void add_arguments(struct source_probe *probe, const struct function_values *values, uint64_t *mask_out)
{
    size_t limit = perf_registers_host()->argument_count;
    uint64_t mask = 0;

    for (size_t i = 0; i < values->argument_count; i++)
        if (values->arguments[i].place < limit)
            mask |= 1ull << bit_of(&values->arguments[i]);
    for (size_t i = 0; i < values->argument_count; i++) {
        char name[32];

        snprintf(name, sizeof(name), "arg%zu", i);
        if (values->arguments[i].place < limit)
            add(probe, &values->arguments[i], bit_of(&values->arguments[i]), mask, name);
    }
    *mask_out = mask;
}

void function_fields_add(struct source_probe *probe, const struct function_values *values, bool is_return,
                         uint64_t *mask_out)
{
    const struct perf_registers *registers = perf_registers_host();
    unsigned bit = registers->all[registers->result].perf_number;

    probe->raw = SOURCE_RAW_REGISTERS;
    if (!is_return) {
        add_arguments(probe, values, mask_out);
        return;
    }
    *mask_out = 0;
    if (!values->has_result)
        return;
    *mask_out = 1ull << bit;
    add(probe, &values->result, bit, *mask_out, "retval");
}
