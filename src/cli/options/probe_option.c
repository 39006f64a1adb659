/* SPDX-License-Identifier: MIT */
/* Types stand behind the name in parentheses, which no name has: all before them is read as gait probe reads it. */
#define _GNU_SOURCE
#include "cli/options/probe_option.h"

#include "cli/options/arg_spec.h"
#include "hosted/error_text.h"
#include "kernel/probe_spec.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL "*"

static bool is_glob(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

/* Files are known by the paths that they have in the process, where links are followed. */
static const char *module_of(const char *path, char *buffer, size_t buffer_bytes, char **file_out)
{
    if (path[0] == '\0' || strcmp(path, ALL) == 0)
        return ALL;
    if (strchr(path, '/') != NULL && !is_glob(path)) {
        *file_out = realpath(path, NULL);
        return *file_out == NULL ? path : *file_out;
    }
    if (is_glob(path))
        return path;
    snprintf(buffer, buffer_bytes, "%s" ALL, path);
    return buffer;
}

static int read_types(const char *text, const char *types, struct probe_option *option, struct gait_error *err)
{
    size_t length = strlen(types);
    struct arg_spec_error error;
    struct arg_spec spec;
    char *wanted = NULL;
    bool is_read;

    if (types[length - 1] != ')')
        return error_set(err, EINVAL, "'%s' has types of arguments that are not ended by )", text);
    if (asprintf(&wanted, "probe:%.*s", (int)(length - 2), types + 1) < 0)
        return error_set(err, ENOMEM, "no memory");
    is_read = arg_spec_parse(wanted, &spec, &error);
    free(wanted);
    if (!is_read)
        return error_set(err, EINVAL, "'%s': %s; types are as of --arg", text, error.what);
    option->declaration = spec.declaration;
    return 0;
}

static int make_pattern(const char *text, const struct probe_spec *spec, struct probe_option *option,
                        struct gait_error *err)
{
    char buffer[PATH_MAX];
    const char *module = module_of(spec->path, buffer, sizeof(buffer), &option->path);
    int length = snprintf(option->pattern, sizeof(option->pattern), "%s!%s:%s", module,
                          spec->group[0] == '\0' ? ALL : spec->group, spec->name[0] == '\0' ? ALL : spec->name);

    if (length < 0 || (size_t)length >= sizeof(option->pattern))
        return error_set(err, EINVAL, "'%s' is too long; give the last part of the path, with a * in front", text);
    return 0;
}

static int read_spec(const char *text, const char *bare, struct probe_option *option, struct gait_error *err)
{
    struct probe_spec spec;
    int result = probe_spec_parse(bare, &spec, err);

    if (result != 0)
        return result;
    if (spec.kind == PROBE_USDT)
        result = make_pattern(text, &spec, option, err);
    else
        result = error_set(err, EINVAL,
                           "'%s' is a probe of the kernel's; static probes can stand here, as usdt:PATH:PROVIDER:NAME, "
                           "and --hook is for functions",
                           text);
    probe_spec_deinit(&spec);
    return result;
}

int probe_option_read(const char *text, struct probe_option *option_out, struct gait_error *err)
{
    const char *types = strchr(text, '(');
    char *bare = types == NULL ? strdup(text) : strndup(text, (size_t)(types - text));
    struct probe_option option = {.path = NULL};
    int result;

    if (bare == NULL)
        return error_set(err, ENOMEM, "no memory");
    result = read_spec(text, bare, &option, err);
    free(bare);
    if (result == 0 && types != NULL)
        result = read_types(text, types, &option, err);
    if (result != 0) {
        probe_option_deinit(&option);
        return result;
    }
    *option_out = option;
    return 0;
}

void probe_option_deinit(struct probe_option *option)
{
    free(option->path);
    option->path = NULL;
}
