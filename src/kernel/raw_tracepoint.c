/* SPDX-License-Identifier: MIT */
/*
 * What a record says is made from the arguments of its tracepoint in ways that only the kernel's source shows. Known
 * are the fields of system calls, which come often; all others need the record. Who runs is known without one.
 */
#include "kernel/program_setup.h"

#include "kernel/kernel_types.h"

#include <string.h>

/* Fields that are an argument, a whole register. */
static const struct {
    const char *spec;
    const char *field;
    unsigned argument;
} known[] = {
    {"tracepoint:raw_syscalls:sys_enter", "id", 1},
    {"tracepoint:raw_syscalls:sys_exit", "ret", 1},
};

/* Tracepoints of single system calls are made up, and so may be others that have no arguments of their own. */
static bool is_real(const struct source_probe *probe)
{
    struct function_values values;

    return probe->kind == PROBE_TRACEPOINT && strncmp(probe->spec, "tracepoint:syscalls:", 20) != 0 &&
           kernel_types_tracepoint(probe->name, &values) == 0;
}

static const char *field_at(const struct source_probe *probe, const struct program_value *value)
{
    for (size_t i = 0; i < probe->field_count; i++)
        if (probe->fields[i].offset == value->offset && probe->fields[i].size_bytes == sizeof(uint64_t) &&
            value->size_bytes == sizeof(uint64_t))
            return probe->fields[i].name;
    return "";
}

static bool move(const struct source_probe *probe, struct program_value *value)
{
    if (value->place != PROGRAM_AT_OFFSET)
        return true;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].spec, probe->spec) == 0 && strcmp(known[i].field, field_at(probe, value)) == 0) {
            value->offset = (unsigned)(known[i].argument * sizeof(uint64_t));
            return true;
        }
    return false;
}

bool raw_tracepoint_counts(const struct source_probe *probe, struct program_config *config)
{
    struct program_config moved = *config;

    if (!is_real(probe) || !move(probe, &moved.key) || (config->has_measure && !move(probe, &moved.measure)))
        return false;
    for (unsigned i = 0; i < config->condition_count; i++)
        if (!move(probe, &moved.conditions[i].value))
            return false;
    *config = moved;
    return true;
}
