/* SPDX-License-Identifier: MIT */
#include "view/function_pattern.h"

#include "base/glob.h"

#include <string.h>

static bool is_in_module(struct glob_text pattern, const struct recorded_module *module)
{
    const char *path = module == NULL ? "" : module->path;
    const char *slash = strrchr(path, '/');

    if (memchr(pattern.start, '/', pattern.length) == NULL && slash != NULL)
        path = slash + 1;
    return glob_matches(pattern, (struct glob_text){path, strlen(path)});
}

/* Behind the signs of an operator, which look like brackets; the place itself if none is there. */
static const char *skip_operator(const char *place)
{
    if (strncmp(place, "operator", 8) != 0)
        return place;
    place += 8;
    return strncmp(place, "()", 2) == 0 ? place + 2 : place + strspn(place, "<>=!+-*/%^&|~,[]");
}

/* Where the parameters of C++ begin; NULL: there are none. Templates and lambdas have brackets of their own. */
static const char *find_parameters(const char *name)
{
    int depth = 0;

    for (const char *place = name; *place != '\0'; place++) {
        place = skip_operator(place);
        if (*place == '(' && depth == 0 && place != name && place[-1] != ':')
            return place;
        if (*place == '\0')
            return NULL;
        depth += (strchr("<{(", *place) != NULL) - (strchr(">})", *place) != NULL);
    }
    return NULL;
}

size_t function_pattern_bare_length(const char *name)
{
    const char *end = strstr(name, "@plt");

    if (end == NULL)
        end = find_parameters(name);
    return end == NULL ? strlen(name) : (size_t)(end - name);
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
