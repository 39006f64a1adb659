/* SPDX-License-Identifier: MIT */
#include "cli/known_functions.h"

#include "elf/symbol_file.h"
#include "hosted/system_clock.h"
#include "protocol/agent_known.h"
#include "protocol/agent_pattern.h"
#include "protocol/agent_places.h"
#include "symbolize/call_arguments.h"
#include "symbolize/dwarf/dwarf_arguments.h"
#include "symbolize/program_files.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

#define LIMIT_NS 2000000000ll

struct pattern_gathering {
    struct agent_options *agent;
    uint64_t wanted; /* patterns that mean functions of the file */
    uint64_t module; /* the file */
    struct agent_pattern_parts parts[AGENT_PATTERNS_MAX];
    uint64_t end_ns;
};

static bool is_kept_at_once(const struct detail_declaration *declaration)
{
    if (detail_declaration_has_vectors(declaration, false) || detail_declaration_has_vectors(declaration, true) ||
        declaration->result.type == DETAIL_TYPE_STRING)
        return true;
    for (unsigned i = 0; i < declaration->count; i++)
        if (declaration->fields[i].type == DETAIL_TYPE_STRING)
            return true;
    return false;
}

/* Functions that were looked up. */
static bool is_placed(const struct pattern_gathering *gathering, const struct elf_symbol *symbol)
{
    const struct agent_place *place;

    for (uint32_t i = 0; (place = agent_places_next(&gathering->agent->places, gathering->module, &i)) != NULL;)
        if (place->address == symbol->address && (place->patterns & gathering->wanted) != 0)
            return true;
    return false;
}

static bool is_wanted(const struct pattern_gathering *gathering, const struct elf_symbol *symbol)
{
    const struct glob_text name = {symbol->name, symbol->name_length};

    if (!symbol->is_function || symbol->is_resolver || call_arguments_may_differ(symbol->name, symbol->name_length))
        return false;
    if (is_placed(gathering, symbol))
        return true;
    for (uint64_t left = gathering->wanted; left != 0; left &= left - 1)
        if (agent_pattern_has_function(&gathering->parts[__builtin_ctzll(left)], name))
            return true;
    return false;
}

/* False: no more can be added. */
static bool take_symbol(struct pattern_gathering *gathering, const char *path, struct dwarf_arguments *dwarf,
                        const struct elf_symbol *symbol)
{
    const uint64_t key = agent_known_key((struct glob_text){path, strlen(path)}, symbol->address);
    struct dwarf_function function;

    if (!is_wanted(gathering, symbol) || dwarf_arguments_find(dwarf, symbol->address, &function) != 0 ||
        !is_kept_at_once(&function.declaration))
        return true;
    /* Where there is no room for its declaration, there may be for those of others. */
    (void)agent_known_add(&gathering->agent->known, key, &function.declaration);
    return gathering->agent->known.count < AGENT_KNOWN_MAX && system_clock_ns(CLOCK_MONOTONIC) < gathering->end_ns;
}

static void take_file(struct pattern_gathering *gathering, const char *path)
{
    struct dwarf_arguments *dwarf;
    struct symbol_file file;
    struct elf_symbol symbol;
    bool goes_on = true;

    if (symbol_file_open(path, &file) != 0)
        return;
    if (dwarf_arguments_open(path, &dwarf) == 0) {
        uint64_t count = elf_symbols_count(&file.symbols);

        for (uint64_t i = 0; i < count && goes_on; i++)
            if (elf_symbols_peek(&file.symbols, i, &symbol) == 0)
                goes_on = take_symbol(gathering, path, dwarf, &symbol);
        dwarf_arguments_close(dwarf);
    }
    symbol_file_close(&file);
}

static void find_wanted(struct pattern_gathering *gathering, const char *path, bool is_program)
{
    const struct agent_options *agent = gathering->agent;

    const struct glob_text whole = {path, strlen(path)};

    gathering->wanted = 0;
    gathering->module = agent_places_module(whole);

    uint64_t placed = agent_places_patterns(&agent->places, gathering->module);

    for (uint32_t i = 0; i < agent->pattern_count; i++)
        if (agent->patterns[i].use == AGENT_PATTERN_DETAIL && !agent->patterns[i].declaration.is_given &&
            ((placed & 1ull << i) || agent_pattern_has_module(&gathering->parts[i], whole, is_program)))
            gathering->wanted |= 1ull << i;
}

void known_functions_gather(const struct program_files *files, struct agent_options *agent)
{
    struct pattern_gathering gathering = {.agent = agent, .end_ns = system_clock_ns(CLOCK_MONOTONIC) + LIMIT_NS};

    for (uint32_t i = 0; i < agent->pattern_count; i++)
        agent_pattern_split(&agent->patterns[i], &gathering.parts[i]);
    for (size_t i = 0; i < files->count; i++) {
        find_wanted(&gathering, files->paths[i], i == 0);
        if (gathering.wanted != 0)
            take_file(&gathering, files->paths[i]);
    }
    agent_known_sort(&agent->known);
}
