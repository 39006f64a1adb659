/* SPDX-License-Identifier: MIT */
#include "report/coverage_choice.h"

#include "base/glob.h"

#include <string.h>

static struct glob_text text_of(const char *text)
{
    return (struct glob_text){text, strlen(text)};
}

bool coverage_choice_wants(const struct coverage_choice *choice, const char *module, const char *function)
{
    const char *mark, *slash = strrchr(module, '/');

    if (choice->filter == NULL)
        return true;
    mark = strchr(choice->filter, '!');
    /* [!a-z] is a set, no module. */
    if (mark == NULL || (mark > choice->filter && mark[-1] == '['))
        return glob_matches(text_of(choice->filter), text_of(function));
    return glob_matches((struct glob_text){choice->filter, (size_t)(mark - choice->filter)},
                        text_of(slash == NULL ? module : slash + 1)) &&
           glob_matches(text_of(mark + 1), text_of(function));
}

static bool wants(const void *choice, const struct coverage_module *module, const struct coverage_function *function)
{
    return coverage_choice_wants(choice, module->module->path, function->name);
}

struct coverage_filter coverage_choice_filter(const struct coverage_choice *choice)
{
    return (struct coverage_filter){choice->filter == NULL ? NULL : wants, choice};
}
