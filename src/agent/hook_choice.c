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
        if (agent_pattern_has_function(&choice->parts[__builtin_ctzll(left)], name))
            matching |= left & -left;
    return matching;
}

/* The place of a function in the list; negative: none begins there. */
static long find_function(const struct hook_choice *choice, uint64_t address)
{
    const struct elf_function *function = elf_function_list_find(choice->functions, address);

    return function == NULL || function->start != address ? -1 : function - choice->functions->functions;
}

/* Patterns mean a function; returns those that it can be. */
static uint64_t choose(struct hook_choice *choice, long which, uint64_t wanted, uint64_t unwanted)
{
    if (choice->functions->functions[which].is_resolver) {
        choice->unresolved |= wanted;
        choice->chosen[which].indirect |= wanted;
    }
    if (!can_be_hooked(choice, &choice->functions->functions[which]))
        return 0;
    choice->chosen[which].patterns |= wanted;
    choice->chosen[which].is_unwanted |= unwanted != 0;
    return wanted | unwanted;
}

/* Functions that the controller has looked up. */
static uint64_t choose_placed(struct hook_choice *choice)
{
    const struct agent_place *place;
    uint64_t matched = 0;

    for (uint32_t i = 0; (place = agent_places_next(choice->places, choice->module, &i)) != NULL;) {
        long which = place->address == UINT64_MAX ? -1 : find_function(choice, place->address);

        if (which >= 0)
            matched |= choose(choice, which, place->patterns & choice->wanted, place->patterns & choice->unwanted);
    }
    return matched;
}

/* The place of the function that has an address; negative: none has. */
static long find_covering(const struct hook_choice *choice, uint64_t address)
{
    const struct elf_function *function = elf_function_list_find(choice->functions, address);

    if (function == NULL || (address != function->start && address - function->start >= function->size_bytes))
        return -1;
    return function - choice->functions->functions;
}

/* Functions of modules that nobody has looked into. */
static uint64_t choose_by_address(struct hook_choice *choice, uint64_t wanted, uint64_t unwanted)
{
    uint64_t matched = 0;

    for (uint64_t left = wanted | unwanted; left != 0; left &= left - 1) {
        uint64_t address = choice->parts[__builtin_ctzll(left)].address, bit = left & -left;
        long which = address == 0 ? -1 : find_covering(choice, address);

        if (which >= 0)
            matched |= choose(choice, which, bit & wanted, bit & unwanted);
    }
    return matched;
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
        matched |= choose(choice, which, matching & wanted, matching & unwanted);
    }
    return matched;
}

uint64_t hook_choice_make(struct hook_choice *choice)
{
    uint64_t whole = find_whole(choice, choice->wanted), not_at_all = find_whole(choice, choice->unwanted);
    uint64_t placed = choice->places == NULL ? 0 : agent_places_patterns(choice->places, choice->module);
    uint64_t named = choice->wanted & ~whole & ~placed, unwanted = choice->unwanted & ~not_at_all & ~placed;
    uint64_t matched = whole | not_at_all;

    if (not_at_all != 0)
        return matched;
    if (named != 0 || unwanted != 0)
        matched |= choose_named(choice, named, unwanted) | choose_by_address(choice, named, unwanted);
    if (placed != 0)
        matched |= choose_placed(choice);
    for (size_t i = 0; i < choice->functions->count; i++) {
        if (choice->chosen[i].is_unwanted)
            choice->chosen[i].patterns = 0;
        else if (can_be_hooked(choice, &choice->functions->functions[i]))
            choice->chosen[i].patterns |= whole;
    }
    return matched;
}
