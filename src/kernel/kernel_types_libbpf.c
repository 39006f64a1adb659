/* SPDX-License-Identifier: MIT */
/*
 * The types are read once, when they are first asked for, and kept. A raw tracepoint NAME has a type
 * "btf_trace_NAME": a pointer to a function with one argument more than the tracepoint, in front.
 */
#include "kernel/kernel_types.h"

#include "base/glob.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TRACEPOINT_PREFIX "btf_trace_"

static struct btf *kernel;

static int ignore(enum libbpf_print_level level, const char *format, va_list arguments)
{
    (void)level;
    (void)format;
    (void)arguments;
    return 0;
}

static int load(void)
{
    if (kernel != NULL)
        return 0;
    libbpf_set_print(ignore);
    kernel = btf__load_vmlinux_btf();
    return kernel == NULL ? -ENOENT : 0;
}

int kernel_types_check(void)
{
    return load();
}

/* What is behind names, const and volatile. */
static const struct btf_type *strip(uint32_t id)
{
    const struct btf_type *type = btf__type_by_id(kernel, id);

    while (type != NULL && (btf_is_mod(type) || btf_is_typedef(type)))
        type = btf__type_by_id(kernel, type->type);
    return type;
}

/* Where characters may be changed there is room for some, rather than text. */
static bool is_text(uint32_t id)
{
    const struct btf_type *given = btf__type_by_id(kernel, id), *type = strip(id);

    return given != NULL && btf_is_const(given) && type != NULL && btf_is_int(type) && type->size == 1 &&
           strstr(btf__name_by_offset(kernel, type->name_off), "char") != NULL;
}

static struct function_value value_of(uint32_t id, const char *name)
{
    const struct btf_type *type = strip(id);
    struct function_value value = {.size_bytes = sizeof(uint64_t), .type = KERNEL_FIELD_HEX};

    if (type != NULL && btf_is_int(type) && type->size <= sizeof(uint64_t)) {
        value.size_bytes = type->size;
        value.type = btf_int_encoding(type) & BTF_INT_SIGNED ? KERNEL_FIELD_SIGNED : KERNEL_FIELD_UNSIGNED;
    } else if (type != NULL && (btf_is_enum(type) || btf_is_enum64(type)) && type->size <= sizeof(uint64_t)) {
        value.size_bytes = type->size;
        value.type = KERNEL_FIELD_UNSIGNED;
    } else if (type != NULL && btf_is_ptr(type)) {
        value.is_string = is_text(type->type);
    }
    snprintf(value.name, sizeof(value.name), "%s", name);
    return value;
}

/* A struct by value takes other places than we would guess: of what is behind it nothing is said. */
static bool is_simple(uint32_t id)
{
    const struct btf_type *type = strip(id);

    return type != NULL && !btf_is_composite(type) && !(btf_is_int(type) && type->size > sizeof(uint64_t));
}

static void describe(const struct btf_type *prototype, unsigned first, struct function_values *values_out)
{
    const struct btf_param *parameters = btf_params(prototype);

    *values_out = (struct function_values){.is_known = true, .has_result = prototype->type != 0};
    if (values_out->has_result)
        values_out->result = value_of(prototype->type, "retval");
    for (unsigned i = first; i < btf_vlen(prototype) && values_out->argument_count < FUNCTION_VALUES_MAX; i++) {
        /* The last one of a function with any number of arguments has no type. */
        if (parameters[i].type == 0 || !is_simple(parameters[i].type))
            break;
        values_out->arguments[values_out->argument_count] =
            value_of(parameters[i].type, btf__name_by_offset(kernel, parameters[i].name_off));
        values_out->arguments[values_out->argument_count].place = (uint8_t)(i - first);
        values_out->argument_count++;
    }
}

int kernel_types_function(const char *name, struct function_values *values_out)
{
    int result = load();
    const struct btf_type *type;
    int32_t id;

    if (result != 0)
        return result;
    id = btf__find_by_name_kind(kernel, name, BTF_KIND_FUNC);
    type = id <= 0 ? NULL : btf__type_by_id(kernel, (uint32_t)id);
    type = type == NULL ? NULL : btf__type_by_id(kernel, type->type);
    if (type == NULL || !btf_is_func_proto(type))
        return -ENOENT;
    describe(type, 0, values_out);
    return 0;
}

int kernel_types_tracepoint(const char *name, struct function_values *values_out)
{
    int result = load();
    const struct btf_type *type;
    char wanted[256];
    int32_t id;

    if (result != 0)
        return result;
    snprintf(wanted, sizeof(wanted), TRACEPOINT_PREFIX "%s", name);
    id = btf__find_by_name_kind(kernel, wanted, BTF_KIND_TYPEDEF);
    type = id <= 0 ? NULL : strip((uint32_t)id);
    type = type == NULL || !btf_is_ptr(type) ? NULL : btf__type_by_id(kernel, type->type);
    if (type == NULL || !btf_is_func_proto(type))
        return -ENOENT;
    describe(type, 1, values_out);
    return 0;
}

static int list(unsigned kind, const char *prefix, const char *pattern, source_visit *visit, void *context)
{
    size_t length = strlen(prefix);
    int result = load();

    for (uint32_t i = 1; result == 0 && i < btf__type_cnt(kernel); i++) {
        const struct btf_type *type = btf__type_by_id(kernel, i);
        const char *name = btf_kind(type) == kind ? btf__name_by_offset(kernel, type->name_off) : NULL;

        if (name != NULL && strncmp(name, prefix, length) == 0 && glob_matches_string(pattern, name + length))
            result = visit(context, name + length);
    }
    return result;
}

int kernel_types_list(const char *pattern, source_visit *visit, void *context)
{
    return list(BTF_KIND_FUNC, "", pattern, visit, context);
}

int kernel_types_list_tracepoints(const char *pattern, source_visit *visit, void *context)
{
    return list(BTF_KIND_TYPEDEF, TRACEPOINT_PREFIX, pattern, visit, context);
}
