/* SPDX-License-Identifier: MIT */
/*
 * Static probes of programs, by the kernel's breakpoints: for processes that the agent is not in. The kernel counts up
 * the semaphores of those that have one. A name may stand for several places, whose arguments are found in different
 * ways: each is a probe of its own.
 */
#define _GNU_SOURCE
#include "kernel/source.h"

#include "arch/abi.h"
#include "arch/perf_registers.h"
#include "base/glob.h"
#include "elf/probe_arguments.h"
#include "elf/static_probes.h"
#include "hosted/error_text.h"
#include "kernel/function_fields.h"
#include "kernel/kernel_program.h"
#include "kernel/user_code.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE          "uprobe"
#define SEMAPHORE_SHIFT 32

/* Where data of an address are in the file. */
static bool find_data(const struct elf_symbols *symbols, uint64_t address, uint64_t *offset_out)
{
    for (uint64_t i = 0; i < symbols->program_header_count; i++) {
        uint64_t at = symbols->program_headers + i * sizeof(Elf64_Phdr);
        Elf64_Phdr header;

        if (at + sizeof(header) > symbols->size_bytes)
            return false;
        memcpy(&header, symbols->bytes + at, sizeof(header));
        if (header.p_type == PT_LOAD && address >= header.p_vaddr && address - header.p_vaddr < header.p_filesz) {
            *offset_out = header.p_offset + (address - header.p_vaddr);
            return true;
        }
    }
    return false;
}

static bool is_meant(const struct probe_spec *spec, const struct static_probe *probe)
{
    const struct glob_text provider = {probe->provider, probe->provider_length},
                           name = {probe->name, probe->name_length};

    return (spec->group[0] == '\0' || glob_matches((struct glob_text){spec->group, strlen(spec->group)}, provider)) &&
           glob_matches((struct glob_text){spec->name, strlen(spec->name)}, name) &&
           (!spec->has_address || spec->offset == probe->address);
}

/* Where programs in the kernel find an argument. False: they cannot. */
static bool place_of(const struct probe_operand *operand, struct program_value *value)
{
    const struct perf_registers *registers = perf_registers_host();

    *value = (struct program_value){
        .place = PROGRAM_AT_OFFSET,
        .type = operand->is_signed ? PROGRAM_SIGNED : PROGRAM_UNSIGNED,
        .size_bytes = operand->size_bytes,
    };
    if (operand->kind == PROBE_OPERAND_CONSTANT && operand->offset == (int)operand->offset) {
        value->place = PROGRAM_NOTHING;
        value->displacement = (int)operand->offset;
        return true;
    }
    if (operand->base >= registers->count || operand->is_relative || operand->offset != (int)operand->offset)
        return false;
    value->offset = registers->all[operand->base].saved_offset;
    if (operand->kind == PROBE_OPERAND_REGISTER) {
        value->offset += operand->shift / 8;
        return operand->shift % 8 == 0;
    }
    value->in_memory = 1;
    value->displacement = (int)operand->offset;
    return operand->kind == PROBE_OPERAND_MEMORY && operand->index == PROBE_NO_REGISTER;
}

static void describe(struct source_probe *probe, const struct static_probe *found, unsigned machine)
{
    struct probe_arguments arguments;

    probe_arguments_parse(found->arguments, found->arguments_length, abi_probe_operands(machine), &arguments);
    for (uint32_t i = 0; i < arguments.count; i++) {
        struct program_value value;
        char name[32];

        snprintf(name, sizeof(name), "arg%u", i);
        if (place_of(&arguments.operands[i], &value))
            source_probe_add_value(probe, &value,
                                   value.type == PROGRAM_SIGNED ? KERNEL_FIELD_SIGNED
                                   : value.size_bytes == 8      ? KERNEL_FIELD_HEX
                                                                : KERNEL_FIELD_UNSIGNED,
                                   name);
    }
}

static int make(const struct probe_spec *spec, const struct user_code *code, const struct static_probe *found,
                struct source_probe *probe)
{
    uint64_t semaphore = 0, place;
    uint32_t type;

    if (source_dynamic_type(DEVICE, &type) != 0 || user_code_place(code, found->address, &place) != 0)
        return -EOPNOTSUPP;
    if (found->semaphore != 0 && !find_data(&code->file.symbols, found->semaphore, &semaphore))
        return -EOPNOTSUPP;
    probe->text = strdup(code->path);
    probe->spec = strdup(spec->text);
    if (asprintf(&probe->name, "%.*s:%.*s", (int)found->provider_length, found->provider, (int)found->name_length,
                 found->name) < 0)
        probe->name = NULL;
    if (probe->text == NULL || probe->spec == NULL || probe->name == NULL)
        return -ENOMEM;
    probe->attr = (struct perf_event_attr){
        .type = type,
        .config = semaphore << SEMAPHORE_SHIFT,
        .config1 = (uint64_t)(uintptr_t)probe->text,
        .config2 = place,
        .sample_period = 1,
    };
    probe->raw = SOURCE_RAW_BYTES;
    /* Without programs, that it was passed is all there is to tell. */
    if (kernel_program_check(NULL) == 0) {
        describe(probe, found, code->file.symbols.machine);
        source_probe_use_program(probe);
    }
    return 0;
}

static int resolve(const struct probe_spec *spec, struct source_probe *probe_out, struct gait_error *err)
{
    struct source_probe probe = {.kind = PROBE_USDT};
    struct static_probe_cursor cursor;
    struct static_probe found;
    struct user_code code;
    int result = user_code_open(spec->path, &code, err);

    if (result != 0)
        return result;
    static_probe_cursor_init(&cursor, &code.file.symbols);
    result = error_set(err, ENOENT, "cannot watch %s: there is no such static probe in %s", spec->text, code.path);
    while (result == -ENOENT && static_probe_cursor_next(&cursor, &found))
        if (is_meant(spec, &found)) {
            result = make(spec, &code, &found, &probe);
            if (result != 0)
                (void)source_explain(spec->text, result, err);
            break;
        }
    user_code_close(&code);
    if (result == 0)
        *probe_out = probe;
    else
        source_probe_deinit(&probe);
    return result;
}

/* How many are called so. */
static size_t count_alike(const struct elf_symbols *symbols, const struct static_probe *probe)
{
    struct static_probe_cursor cursor;
    struct static_probe other;
    size_t count = 0;

    static_probe_cursor_init(&cursor, symbols);
    while (static_probe_cursor_next(&cursor, &other))
        count += other.name_length == probe->name_length && other.provider_length == probe->provider_length &&
                 memcmp(other.name, probe->name, probe->name_length) == 0 &&
                 memcmp(other.provider, probe->provider, probe->provider_length) == 0;
    return count;
}

static int visit_probe(const struct probe_spec *spec, const struct user_code *code, const struct static_probe *found,
                       source_visit *visit, void *context)
{
    const char *quote = strchr(spec->path, ':') == NULL ? "" : "\"";
    char place[32] = "", *text;
    int result;

    if (count_alike(&code->file.symbols, found) > 1)
        snprintf(place, sizeof(place), "@0x%" PRIx64, found->address);
    if (asprintf(&text, "usdt:%s%s%s:%.*s:%.*s%s", quote, spec->path, quote, (int)found->provider_length,
                 found->provider, (int)found->name_length, found->name, place) < 0)
        return -ENOMEM;
    result = visit(context, text);
    free(text);
    return result;
}

static int list(const struct probe_spec *spec, source_visit *visit, void *context, struct gait_error *err)
{
    struct static_probe_cursor cursor;
    struct static_probe found;
    struct user_code code;
    int result = user_code_open(spec->path, &code, err);

    if (result != 0)
        return result;
    static_probe_cursor_init(&cursor, &code.file.symbols);
    while (result == 0 && static_probe_cursor_next(&cursor, &found))
        if (is_meant(spec, &found))
            result = visit_probe(spec, &code, &found, visit, context);
    user_code_close(&code);
    return result;
}

static int check(struct gait_error *err)
{
    return source_of(PROBE_UPROBE)->check(err);
}

const struct source source_usdt = {
    .kind = PROBE_USDT,
    .purpose = "static probes that programs and libraries were built with",
    .check = check,
    .list = list,
    .resolve = resolve,
};
