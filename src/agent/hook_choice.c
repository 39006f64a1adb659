/* SPDX-License-Identifier: MIT */
#include "agent/hook_choice.h"

static bool can_be_hooked(const struct hook_choice *choice, const struct elf_function *function)
{
    return !function->is_part && !function->is_label && !function->is_resolver && function->start != choice->entry;
}

/* Those of the patterns that mean all functions of the module. */
static uint64_t find_whole(const struct hook_choice *choice, uint64_t patterns)
{
    uint64_t whole = 0;

    for (uint64_t left = patterns; left != 0; left &= left - 1)
        if (agent_pattern_is_whole(&choice->parts[__builtin_ctzll(left)]))
            whole |= left & -left;
    return whole;
}

static uint64_t find_matching(const struct hook_choice *choice, uint64_t patterns, struct glob_text name)
{
    uint64_t matching = 0;

    for (uint64_t left = patterns; left != 0; left &= left - 1)
        if (glob_matches(choice->parts[__builtin_ctzll(left)].function, name))
            matching |= left & -left;
    return matching;
}

/* The place of a function in the list; negative: none begins there. */
static long find_function(const struct hook_choice *choice, uint64_t address)
{
    const struct elf_function *function = elf_function_list_find(choice->functions, address);

    return function == NULL || function->start != address ? -1 : function - choice->functions->functions;
}

/* Functions by each of their names. */
static uint64_t choose_named(struct hook_choice *choice, uint64_t wanted, uint64_t unwanted)
{
    uint64_t count = elf_symbols_count(choice->symbols), matched = 0;
    struct elf_symbol symbol;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t matching;
        long which;

        if (elf_symbols_peek(choice->symbols, i, &symbol) != 0)
            continue;
        matching = find_matching(choice, wanted | unwanted, (struct glob_text){symbol.name, symbol.name_length});
        which = matching == 0 ? -1 : find_function(choice, symbol.address);
        if (which < 0)
            continue;
        if (choice->functions->functions[which].is_resolver)
            choice->unresolved |= matching & wanted;
        if (!can_be_hooked(choice, &choice->functions->functions[which]))
            continue;
        matched |= matching;
        choice->chosen[which].patterns |= matching & wanted;
        choice->chosen[which].is_unwanted |= (matching & unwanted) != 0;
    }
    return matched;
}

uint64_t hook_choice_make(struct hook_choice *choice)
{
    uint64_t whole = find_whole(choice, choice->wanted), not_at_all = find_whole(choice, choice->unwanted);
    uint64_t named = choice->wanted & ~whole, unwanted = choice->unwanted & ~not_at_all;
    uint64_t matched = whole | not_at_all;

    if (not_at_all != 0)
        return matched;
    if (named != 0 || unwanted != 0)
        matched |= choose_named(choice, named, unwanted);
    for (size_t i = 0; i < choice->functions->count; i++) {
        if (choice->chosen[i].is_unwanted)
            choice->chosen[i].patterns = 0;
        else if (can_be_hooked(choice, &choice->functions->functions[i]))
            choice->chosen[i].patterns |= whole;
    }
    return matched;
}
