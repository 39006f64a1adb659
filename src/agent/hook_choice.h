/* SPDX-License-Identifier: MIT */
/* Which functions of a module are to be hooked, by the patterns of a session. No locks, no system calls, no state. */
#ifndef GAIT_AGENT_HOOK_CHOICE_H
#define GAIT_AGENT_HOOK_CHOICE_H

#include "elf/function_list.h"
#include "protocol/agent_pattern.h"
#include "protocol/agent_places.h"

#include <stdbool.h>
#include <stdint.h>

/* What becomes of a function. */
struct hook_chosen {
    uint64_t patterns; /* that want it; 0: it is left alone */
    uint64_t indirect; /* that want what it chooses, if it only does that */
    bool is_unwanted;  /* while the choice is made */
};

struct hook_choice {
    const struct elf_symbols *symbols;
    const struct elf_function_list *functions; /* all of the module's */
    const struct agent_pattern_parts *parts;   /* of all patterns */
    uint64_t wanted;                           /* those of them whose functions are hooked: a bit for each */
    uint64_t unwanted;                         /* those whose functions are not, whatever the others say */
    uint64_t entry;                            /* where the program begins, which is no function */
    const struct agent_places *places;         /* looked up, of the module with that key; or NULL */
    uint64_t module;
    struct hook_chosen *chosen; /* for each function; the caller's, zeroed */
    uint64_t unresolved; /* filled in: those wanted by whose names there are functions that only choose another one */
};

/*
 * Fills in what is chosen. A pattern means a function by any of its names; one for all functions means also those that
 * have none. Returns the patterns, wanted or not, that some function has matched.
 */
uint64_t hook_choice_make(struct hook_choice *choice);

#endif
