/* SPDX-License-Identifier: MIT */
/* The list of stack_walkers.def. Constant, so no lock. */
#include "hook/stack_walkers.h"

#include "base/glob.h"
#include "elf/function_list.h"

static const struct {
    struct glob_text sign;
    struct glob_text functions;
} walkers_known[] = {
#define STACK_WALKER(sign, functions) {{sign, sizeof(sign) - 1}, {functions, sizeof(functions) - 1}},
#include "hook/stack_walkers.def"
#undef STACK_WALKER
};

#define WALKER_COUNT (sizeof(walkers_known) / sizeof(walkers_known[0]))

_Static_assert(WALKER_COUNT <= 32, "a bit for each");

/* Nearly all names are ruled out by their first character. */
static bool has_sign(size_t which, const struct elf_function *function)
{
    const struct glob_text *sign = &walkers_known[which].sign;

    return function->name_length != 0 && function->name[0] == sign->start[0] &&
           glob_matches(*sign, (struct glob_text){function->name, function->name_length});
}

uint32_t hook_stack_walkers_find(const struct elf_function_list *functions)
{
    uint32_t found = 0;

    for (size_t i = 0; i < functions->count; i++)
        for (size_t which = 0; functions->functions[i].name != NULL && which < WALKER_COUNT; which++)
            if (has_sign(which, &functions->functions[i]))
                found |= 1u << which;
    return found;
}

bool hook_stack_walkers_look_at(uint32_t walkers, const char *name, size_t length)
{
    for (size_t which = 0; which < WALKER_COUNT; which++) {
        const struct glob_text *functions = &walkers_known[which].functions;

        if (!(walkers & 1u << which))
            continue;
        if (glob_is_all(*functions) || (name != NULL && glob_matches(*functions, (struct glob_text){name, length})))
            return true;
    }
    return false;
}
