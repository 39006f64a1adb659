/* SPDX-License-Identifier: MIT */
#include "view/function_pattern.h"

#include "base/glob.h"

#include <string.h>

static bool is_in_module(struct glob_text pattern, const struct module *module)
{
    const char *path = module == NULL ? "" : module->path;
    const char *slash = strrchr(path, '/');

    if (memchr(pattern.start, '/', pattern.length) == NULL && slash != NULL)
        path = slash + 1;
    return glob_matches(pattern, (struct glob_text){path, strlen(path)});
}

size_t function_pattern_bare_length(const char *name)
{
    const char *place = strstr(name, "@plt");

    if (place != NULL)
        return (size_t)(place - name);
    /* "(anonymous namespace)::f(int)" has more than the parameters in brackets, and so has "operator()". */
    for (place = strchr(name, '('); place != NULL; place = strchr(place + 1, '('))
        if (place != name && place[-1] != ':' && !(place - name >= 8 && strncmp(place - 8, "operator()", 10) == 0))
            return (size_t)(place - name);
    return strlen(name);
}

static bool has_name(const char *pattern, const char *name)
{
    struct glob_text wanted = {pattern, strlen(pattern)};

    return glob_matches(wanted, (struct glob_text){name, strlen(name)}) ||
           glob_matches(wanted, (struct glob_text){name, function_pattern_bare_length(name)});
}

bool function_pattern_matches(const char *pattern, const struct view_function *function)
{
    const char *mark = strchr(pattern, '!');

    /* "operator!=" has one as well, but no module is called so; and [!a-z] is part of a set. */
    if (mark == NULL || mark == pattern || mark[-1] == '[' ||
        (mark - pattern >= 8 && memcmp(mark - 8, "operator", 8) == 0))
        return has_name(pattern, function->name);
    return is_in_module((struct glob_text){pattern, (size_t)(mark - pattern)}, function->module) &&
           has_name(mark + 1, function->name);
}
