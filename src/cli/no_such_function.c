/* SPDX-License-Identifier: MIT */
#include "cli/hints.h"

#include "cli/options/nearest_name.h"
#include "cli/screens/printable.h"
#include "hosted/error_text.h"
#include "symbolize/function_spelling.h"
#include "view/view_functions.h"

#include <errno.h>
#include <string.h>

int no_such_function(struct view_functions *functions, const char *pattern, struct gait_error *err)
{
    const char *mark = strchr(pattern, '!');
    struct nearest_names nearest;
    char names[NEAREST_NAMES_MAX * NEAREST_NAME_BYTES], clean[sizeof(names)];

    nearest_names_init(&nearest, mark == NULL ? pattern : mark + 1);
    for (size_t i = 0; i < functions->count; i++) {
        const char *name = view_functions_at(functions, (uint32_t)i)->name;

        nearest_names_offer(&nearest, name, function_spelling_bare_length(name));
    }
    if (nearest.count == 0)
        return error_set(
            err, ENOENT,
            "cannot find '%s': no function with such a name was called; 'gait report' lists those that were", pattern);
    nearest_names_join(&nearest, names, sizeof(names));
    return error_set(err, ENOENT, "cannot find '%s': no function with such a name was called; did you mean %s?",
                     pattern, printable(clean, sizeof(clean), names));
}
