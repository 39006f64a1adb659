/* SPDX-License-Identifier: MIT */
#include "kernel/chosen_probes.h"

#include "arch/perf_registers.h"
#include "hosted/error_text.h"
#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_MAX 64u

struct adding {
    struct chosen_probes *list;
    size_t found;
    struct gait_error *err;
};

static bool has(const struct chosen_probes *list, const char *spec)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->probes[i]->spec, spec) == 0)
            return true;
    return false;
}

static int append(struct chosen_probes *list, const struct source_probe *probe)
{
    int result = ARRAY_RESERVE_NEXT(list->probes, list->count);
    struct source_probe *copy = result != 0 ? NULL : malloc(sizeof(*copy));

    if (copy == NULL)
        return -ENOMEM;
    *copy = *probe;
    list->probes[list->count++] = copy;
    return 0;
}

static int add_one(struct chosen_probes *list, const struct probe_spec *spec, struct gait_error *err)
{
    struct source_probe probe;
    int result;

    if (has(list, spec->text))
        return 0;
    result = source_of(spec->kind)->resolve(spec, &probe, err);
    if (result != 0)
        return result;
    if (append(list, &probe) == 0)
        return 0;
    source_probe_deinit(&probe);
    return error_set(err, ENOMEM, "cannot watch %s: there is no memory", spec->text);
}

static int add_found(void *context, const char *text)
{
    struct adding *adding = context;
    struct probe_spec spec;
    int result;

    if (adding->list->count >= CHOSEN_PROBES_MAX)
        return error_set(adding->err, E2BIG, "cannot watch so much: that means more than %d places; try fewer",
                         CHOSEN_PROBES_MAX);
    result = probe_spec_parse(text, &spec, adding->err);
    if (result != 0)
        return result;
    adding->found++;
    /* A name with letters that mean something in globs is no place of its own. */
    spec.is_glob = false;
    if (add_one(adding->list, &spec, adding->err) != 0)
        adding->list->left_out++;
    probe_spec_deinit(&spec);
    return 0;
}

static int add_glob(struct chosen_probes *list, const struct probe_spec *spec, struct gait_error *err)
{
    struct adding adding = {list, 0, err};
    size_t before = list->count;
    int result = source_list(spec, add_found, &adding, err);

    if (result != 0)
        return result;
    if (adding.found == 0)
        return error_set(err, ENOENT, "cannot watch %s: there is nothing like that", spec->text);
    /* Why the last one was refused is in the error. */
    return list->count == before && list->left_out != 0 ? -err->code : 0;
}

/* Functions of programs may be spelled in other ways than linkers do; what was said of the one stays said. */
static int add_spelled(struct chosen_probes *list, struct probe_spec *spec, struct gait_error *err)
{
    struct gait_error other;

    if ((spec->kind != PROBE_UPROBE && spec->kind != PROBE_URETPROBE) || spec->has_address)
        return -ENOENT;
    spec->is_glob = true;
    switch (add_glob(list, spec, &other)) {
    case 0:
        *err = (struct gait_error){.code = 0};
        return 0;
    case -ENOENT:
        return -ENOENT;
    default:
        *err = other;
        return -err->code;
    }
}

int chosen_probes_add(struct chosen_probes *list, const char *text, struct gait_error *err)
{
    struct probe_spec spec;
    int result = probe_spec_parse(text, &spec, err);

    if (result != 0)
        return result;
    result = spec.is_glob || (spec.kind == PROBE_USDT && !spec.has_address) ? add_glob(list, &spec, err)
                                                                            : add_one(list, &spec, err);
    if (result == -ENOENT && !spec.is_glob)
        result = add_spelled(list, &spec, err);
    probe_spec_deinit(&spec);
    return result;
}

void chosen_probes_deinit(struct chosen_probes *list)
{
    for (size_t i = 0; i < list->count; i++) {
        source_probe_deinit(list->probes[i]);
        free(list->probes[i]);
    }
    free(list->probes);
    *list = (struct chosen_probes){.count = 0};
}

/* ---- values for programs ----------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum program_place place;
} everywhere[] = {
    {"pid", PROGRAM_PID}, {"tid", PROGRAM_TID}, {"uid", PROGRAM_UID}, {"cpu", PROGRAM_CPU}, {"comm", PROGRAM_COMM},
};

/* The register whose value is at that place of the sample, in what the kernel saves. */
static int saved_offset(uint64_t mask, uint32_t place, unsigned *offset_out)
{
    const struct perf_registers *registers = perf_registers_host();

    for (size_t i = 0; i < registers->count; i++) {
        unsigned bit = registers->all[i].perf_number;

        if (mask & 1ull << bit && 8 * (uint32_t)__builtin_popcountll(mask & ((1ull << bit) - 1)) == place) {
            *offset_out = registers->all[i].saved_offset;
            return 0;
        }
    }
    return -ENOENT;
}

static struct program_value value_of(const struct kernel_field *field)
{
    return (struct program_value){
        .place = PROGRAM_AT_OFFSET,
        .type = field->type == KERNEL_FIELD_SIGNED   ? PROGRAM_SIGNED
                : field->type == KERNEL_FIELD_STRING ? PROGRAM_CHARACTERS
                                                     : PROGRAM_UNSIGNED,
        .offset = field->offset,
        .size_bytes = field->type == KERNEL_FIELD_STRING && field->size_bytes > PROGRAM_KEY_BYTES ? PROGRAM_KEY_BYTES
                                                                                                  : field->size_bytes,
    };
}

/* The number in "arg0"; ARGUMENTS_MAX: it is another name. */
static size_t argument_number(const char *name)
{
    char *end;
    unsigned long number;

    if (strncmp(name, "arg", 3) != 0 || name[3] < '0' || name[3] > '9')
        return ARGUMENTS_MAX;
    number = strtoul(name + 3, &end, 10);
    return *end == '\0' && number < ARGUMENTS_MAX ? number : ARGUMENTS_MAX;
}

/* Where a program at the entry of a function finds an argument by its number, whatever that argument is called. */
static int argument_offset(const struct source_probe *probe, size_t number, unsigned *offset_out)
{
    const struct perf_registers *registers = perf_registers_host();

    switch (probe->kind) {
    case PROBE_UPROBE:
    case PROBE_KPROBE:
        if (number >= registers->argument_count)
            return -ENOENT;
        *offset_out = registers->all[registers->arguments[number]].saved_offset;
        return 0;
    case PROBE_RAWTRACEPOINT:
    case PROBE_FENTRY:
    case PROBE_FEXIT:
        *offset_out = (unsigned)(number * sizeof(uint64_t));
        return number < probe->value_count ? 0 : -ENOENT;
    default:
        return -ENOENT;
    }
}

/* An argument by its number: with the size and the sign that it has if those are known. */
static int find_argument(const struct source_probe *probe, const char *name, struct program_value *value_out)
{
    size_t number = argument_number(name);
    struct program_value value = {.place = PROGRAM_AT_OFFSET, .type = PROGRAM_UNSIGNED, .size_bytes = sizeof(uint64_t)};

    if (number == ARGUMENTS_MAX || argument_offset(probe, number, &value.offset) != 0)
        return -ENOENT;
    for (size_t i = 0; i < probe->value_count; i++) {
        const struct program_value *known = &probe->values[i];

        if (known->place == PROGRAM_AT_OFFSET && known->offset == value.offset &&
            (known->type == PROGRAM_UNSIGNED || known->type == PROGRAM_SIGNED))
            value = *known;
    }
    *value_out = value;
    return 0;
}

int probe_value_find(const struct source_probe *probe, const char *name, struct program_value *value_out)
{
    for (size_t i = 0; i < probe->field_count; i++) {
        struct program_value value = value_of(&probe->fields[i]);

        if (strcmp(probe->fields[i].name, name) != 0)
            continue;
        if (value.type != PROGRAM_CHARACTERS && value.size_bytes > sizeof(uint64_t))
            return -ENOENT;
        if (probe->program != SOURCE_PROGRAM_NONE)
            value = probe->values[i];
        else if (probe->raw == SOURCE_RAW_REGISTERS &&
                 saved_offset(probe->attr.sample_regs_user | probe->attr.sample_regs_intr, value.offset,
                              &value.offset) != 0)
            return -ENOENT;
        else if (probe->raw == SOURCE_RAW_PLACE)
            return -ENOENT;
        *value_out = value;
        return 0;
    }
    for (size_t i = 0; i < sizeof(everywhere) / sizeof(everywhere[0]); i++)
        if (strcmp(everywhere[i].name, name) == 0) {
            *value_out = (struct program_value){.place = everywhere[i].place,
                                                .type = everywhere[i].place == PROGRAM_COMM ? PROGRAM_CHARACTERS
                                                                                            : PROGRAM_UNSIGNED,
                                                .size_bytes = sizeof(uint32_t)};
            return 0;
        }
    return find_argument(probe, name, value_out);
}
