/* SPDX-License-Identifier: MIT */
/* The list of entry_only_names.def. Constant, so no lock. */
#include "hook/entry_only_names.h"

#include "base/glob.h"

static const struct glob_text patterns[] = {
#define ENTRY_ONLY(pattern) {pattern, sizeof(pattern) - 1},
#include "hook/entry_only_names.def"
#undef ENTRY_ONLY
};

bool hook_is_entry_only_name(const char *name, size_t length)
{
    if (name == NULL)
        return false;
    for (; length != 0 && *name == '_'; name++)
        length--;
    if (length == 0)
        return false;
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        if (patterns[i].start[0] == name[0] && glob_matches(patterns[i], (struct glob_text){name, length}))
            return true;
    return false;
}

bool hook_is_signal_return_name(const char *name, size_t length)
{
    static const struct glob_text either = {"__restore", 9}, usual = {"__restore_rt", 12};
    struct glob_text text = {name, length};

    return name != NULL && (glob_matches(either, text) || glob_matches(usual, text));
}

bool hook_is_returned_into_name(const char *name, size_t length)
{
    static const struct glob_text plain = {"runtime.goexit", 14}, versioned = {"runtime.goexit.*", 16};
    struct glob_text text = {name, length};

    return name != NULL && (glob_matches(plain, text) || glob_matches(versioned, text));
}
