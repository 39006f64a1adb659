/* SPDX-License-Identifier: MIT */
/* A text for each set of flags; there are few. */
#include "export/call_flag_names.h"

#include "view/call_tracker.h"

#define SETS 16u

_Static_assert(CALL_GUESSED == 1 && CALL_CUT == 2 && CALL_UNWOUND == 4 && CALL_NO_RETURN == 8, "in that order");

/* Of a call that is told in parts; what else is not sure of a part is not said. */
static const char *part_name(uint32_t flags)
{
    if (flags & CALL_SUSPENDED)
        return flags & CALL_RESUMED ? "resumed suspended" : "suspended";
    return flags & CALL_CUT ? "cut resumed" : flags & CALL_UNWOUND ? "unwound resumed" : "resumed";
}

const char *call_flag_names(uint32_t flags)
{
    static const char *const names[SETS] = {
        "",
        "guessed",
        "cut",
        "guessed cut",
        "unwound",
        "guessed unwound",
        "cut unwound",
        "guessed cut unwound",
        "no_return",
        "guessed no_return",
        "cut no_return",
        "guessed cut no_return",
        "unwound no_return",
        "guessed unwound no_return",
        "cut unwound no_return",
        "guessed cut unwound no_return",
    };

    if (flags & CALL_ENTRY_ONLY)
        return "entry_only";
    return flags & (CALL_SUSPENDED | CALL_RESUMED) ? part_name(flags) : names[flags % SETS];
}
