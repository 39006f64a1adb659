/* SPDX-License-Identifier: MIT */
/*
 * Functions of programs and libraries, by the kernel's breakpoints in their files. An event is a descriptor: nothing is
 * left behind when we are killed. Arguments are named by debug information where there is some.
 */
#define _GNU_SOURCE
#include "kernel/source.h"

#include "hosted/error_text.h"
#include "kernel/function_fields.h"
#include "kernel/kernel_program.h"
#include "kernel/user_code.h"
#include "symbolize/dwarf/dwarf_arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE     "uprobe"
#define RETURN_BIT 1u

static struct function_value value_of(const struct detail_field *field, const char *name)
{
    struct function_value value = {.size_bytes = detail_type_bytes(field->type), .type = KERNEL_FIELD_UNSIGNED};

    switch (field->type) {
    case DETAIL_TYPE_I8:
    case DETAIL_TYPE_I16:
    case DETAIL_TYPE_I32:
    case DETAIL_TYPE_I64:
    case DETAIL_TYPE_DESCRIPTOR:
        value.type = KERNEL_FIELD_SIGNED;
        break;
    case DETAIL_TYPE_HEX:
    case DETAIL_TYPE_POINTER:
        value.type = KERNEL_FIELD_HEX;
        break;
    case DETAIL_TYPE_STRING:
    case DETAIL_TYPE_BUFFER:
        value.type = KERNEL_FIELD_HEX;
        value.size_bytes = sizeof(uint64_t);
        value.is_string = field->type == DETAIL_TYPE_STRING;
        break;
    default:
        break;
    }
    value.place = field->place < DETAIL_PLACE_VECTOR ? field->place : 255;
    if (field->type == DETAIL_TYPE_SKIPPED || value.size_bytes == 0)
        value.place = 255;
    snprintf(value.name, sizeof(value.name), "%s", name);
    return value;
}

static void ask_debug_information(const char *path, uint64_t address, struct function_values *values)
{
    struct dwarf_function function;
    struct dwarf_arguments *file;

    function_values_guess(values);
    if (dwarf_arguments_open(path, &file) != 0)
        return;
    if (dwarf_arguments_find(file, address, &function) == 0) {
        *values = (struct function_values){.is_known = true, .argument_count = function.declaration.count};
        for (size_t i = 0; i < function.declaration.count; i++)
            values->arguments[i] = value_of(&function.declaration.fields[i], function.arguments[i].name);
        values->result = value_of(&function.declaration.result, "retval");
        values->has_result = function.declaration.result.type != DETAIL_TYPE_SKIPPED && values->result.place == 0;
    }
    dwarf_arguments_close(file);
}

/* Where it is, and what to call it. */
static int find(const struct probe_spec *spec, const struct user_code *code, struct user_function *function,
                struct gait_error *err)
{
    uint64_t inside;

    if (spec->has_address) {
        *function = (struct user_function){.name = "", .address = spec->offset};
        if (user_code_place(code, spec->offset, &function->file_offset) != 0)
            return error_set(err, ENOENT, "cannot watch %s: there is no code at that address of %s", spec->text,
                             code->path);
        return 0;
    }
    if (user_code_find(code, spec->name, function) != 0)
        return error_set(err, ENOENT, "cannot watch %s: there is no function '%s' in %s", spec->text, spec->name,
                         code->path);
    if (spec->offset != 0 && user_code_place(code, function->address + spec->offset, &inside) != 0)
        return error_set(err, ENOENT, "cannot watch %s: the function has no byte %" PRIu64, spec->text, spec->offset);
    function->file_offset += spec->offset;
    return 0;
}

static int make(const struct probe_spec *spec, const struct user_code *code, const struct user_function *function,
                struct source_probe *probe)
{
    bool is_return = spec->kind == PROBE_URETPROBE;
    struct function_values values;
    uint64_t mask = 0;
    uint32_t type;

    /* A kernel without such events says so when the probe is opened. */
    if (source_dynamic_type(DEVICE, &type) != 0)
        return -EOPNOTSUPP;
    probe->kind = spec->kind;
    probe->text = strdup(code->path);
    probe->spec = strdup(spec->text);
    if (spec->has_address
            ? asprintf(&probe->name, "0x%" PRIx64, spec->offset) < 0
            : asprintf(&probe->name, spec->offset != 0 ? "%s+%" PRIu64 : "%s", spec->name, spec->offset) < 0)
        probe->name = NULL;
    if (probe->text == NULL || probe->spec == NULL || probe->name == NULL)
        return -ENOMEM;
    probe->attr = (struct perf_event_attr){
        .type = type,
        .config = is_return ? RETURN_BIT : 0,
        .config1 = (uint64_t)(uintptr_t)probe->text,
        .config2 = function->file_offset,
        .sample_period = 1,
    };
    /* In the middle of a function, arguments may be anywhere. */
    if (spec->offset != 0 || spec->has_address)
        function_values_guess(&values);
    else
        ask_debug_information(code->path, function->address, &values);
    if (kernel_program_check(NULL) == 0) {
        function_fields_add_by_program(probe, &values, is_return);
        return 0;
    }
    function_fields_add(probe, &values, is_return, &mask);
    probe->attr.sample_regs_user = mask;
    probe->attr.sample_type = mask == 0 ? 0 : PERF_SAMPLE_REGS_USER;
    return 0;
}

static int resolve(const struct probe_spec *spec, struct source_probe *probe_out, struct gait_error *err)
{
    struct source_probe probe = {.kind = spec->kind};
    struct user_function function;
    struct user_code code;
    int result = user_code_open(spec->path, &code, err);

    if (result != 0)
        return result;
    result = find(spec, &code, &function, err);
    if (result == 0) {
        result = make(spec, &code, &function, &probe);
        if (result != 0)
            (void)source_explain(spec->text, result, err);
    }
    user_code_close(&code);
    if (result == 0)
        *probe_out = probe;
    else
        source_probe_deinit(&probe);
    return result;
}

/* ---- listing ----------------------------------------------------------------------------------------------------- */

struct uprobe_listing {
    const struct probe_spec *spec;
    source_visit *visit;
    void *context;
};

static int visit_function(void *context, const struct user_function *function)
{
    const struct uprobe_listing *listing = context;
    const char *quote = strchr(listing->spec->path, ':') == NULL ? "" : "\"";
    char *spec;
    int result;

    if (function->name_length == 0) {
        if (asprintf(&spec, "%s:%s%s%s:0x%" PRIx64, probe_kind_name(listing->spec->kind), quote, listing->spec->path,
                     quote, function->address) < 0)
            return -ENOMEM;
    } else if (asprintf(&spec, "%s:%s%s%s:%.*s", probe_kind_name(listing->spec->kind), quote, listing->spec->path,
                        quote, (int)function->name_length, function->name) < 0)
        return -ENOMEM;
    result = listing->visit(listing->context, spec);
    free(spec);
    return result;
}

static int list(const struct probe_spec *spec, source_visit *visit, void *context, struct gait_error *err)
{
    struct uprobe_listing listing = {spec, visit, context};
    struct user_code code;
    char *text;
    int result = user_code_open(spec->path, &code, err);

    if (result != 0)
        return result;
    /* What stands in front of a distance may be the name of the file. */
    if (asprintf(&text, spec->offset == 0 ? "%s" : "%s+0x%" PRIx64, spec->name, spec->offset) < 0) {
        user_code_close(&code);
        return -ENOMEM;
    }
    result = user_code_list(&code, text, visit_function, &listing);
    free(text);
    user_code_close(&code);
    return result;
}

/* On a place of our own program that is never run while it is watched. */
static int check(struct gait_error *err)
{
    struct perf_event_attr attr = {.sample_period = 1, .config1 = (uint64_t)(uintptr_t) "/proc/self/exe"};
    struct user_function function;
    struct user_code code;
    int result = source_dynamic_type(DEVICE, &attr.type);

    if (result != 0)
        return source_explain("functions of programs", EOPNOTSUPP, err);
    if (user_code_open("/proc/self/exe", &code, err) == 0) {
        if (user_code_find(&code, "main", &function) == 0 || user_code_find(&code, "_start", &function) == 0)
            attr.config2 = function.file_offset;
        user_code_close(&code);
    }
    result = source_try(&attr);
    return result == 0 ? 0 : source_explain("functions of programs", result, err);
}

const struct source source_uprobe = {
    .kind = PROBE_UPROBE,
    .purpose = "calls of functions in programs and libraries",
    .check = check,
    .list = list,
    .resolve = resolve,
};

const struct source source_uretprobe = {
    .kind = PROBE_URETPROBE,
    .purpose = "returns of functions in programs and libraries",
    .check = check,
    .list = list,
    .resolve = resolve,
};
