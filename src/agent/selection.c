/* SPDX-License-Identifier: MIT */
/*
 * Only files that the module part of some pattern means, and of which functions are wanted, are opened. Names are read
 * from the file, whose tables need not be in memory; those of the vdso, which has no file, from memory. A file that
 * cannot be read has no functions.
 */
#include "agent/selection.h"

#include "agent/call_details.h"
#include "agent/probe_set.h"
#include "agent/resolver_watch.h"
#include "base/raw_syscall.h"
#include "elf/symbol_file.h"
#include "process/mapping_list.h"
#include "protocol/agent_known.h"
#include "protocol/agent_pattern.h"
#include "protocol/agent_places.h"
#include "ring/ring_region.h"
#include "stalker/quiet_range.h"
#include "stalker/stalker_engine.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>

#define PROGRAM_LINK "/proc/self/exe"
#define VDSO         "[vdso]"

/* Functions of a file whose size is found by looking through all others. */
#define MEASURED_MAX 256u

static struct selection {
    struct stalker_engine *engine;
    struct ring_region *ring;
    const struct selection_watcher *watcher;
    uint32_t count;
    struct agent_pattern patterns[AGENT_PATTERNS_MAX];
    struct agent_pattern_parts parts[AGENT_PATTERNS_MAX];
    struct agent_known known;
    struct agent_places places;
    char program[MAPPING_PATH_BYTES_MAX]; /* the path of the program itself */
    size_t program_length;
} selection;

/* A module that is looked through. */
struct selected_module {
    const struct mapping *mapping;
    const struct elf_symbols *symbols;
    uint64_t wanted; /* patterns, by their number */
    uint64_t placed; /* those of them whose functions were looked up */
    uint64_t probed; /* those that are about static probes */
    uint32_t measured;
};

_Static_assert(AGENT_PATTERNS_MAX <= 64, "a bit for each pattern");

static void find_program(void)
{
    static const char link[] = PROGRAM_LINK;
    long length =
        raw_syscall(__NR_readlinkat, AT_FDCWD, (long)link, (long)selection.program, sizeof(selection.program), 0, 0);

    selection.program_length = length < 0 ? 0 : (size_t)length;
}

bool selection_is_program(const struct mapping *mapping)
{
    return mapping->path_length == selection.program_length &&
           __builtin_memcmp(mapping->path, selection.program, mapping->path_length) == 0;
}

static void found_function(const struct agent_pattern *pattern, uint64_t address);

void selection_begin(struct stalker_engine *engine, struct ring_region *ring, const struct agent_options *options,
                     const struct selection_watcher *watcher)
{
    selection.engine = engine;
    selection.ring = ring;
    selection.watcher = watcher;
    selection.count = options->pattern_count < AGENT_PATTERNS_MAX ? options->pattern_count : AGENT_PATTERNS_MAX;
    for (uint32_t i = 0; i < selection.count; i++) {
        selection.patterns[i] = options->patterns[i];
        agent_pattern_split(&selection.patterns[i], &selection.parts[i]);
    }
    /* As much as is used of it: it has room for many, which takes time to touch. */
    __builtin_memcpy(&selection.known, &options->known, agent_known_bytes(&options->known));
    selection.places.count = options->places.count < AGENT_PLACES_MAX ? options->places.count : AGENT_PLACES_MAX;
    __builtin_memcpy(selection.places.places, options->places.places,
                     selection.places.count * sizeof(selection.places.places[0]));
    find_program();
    resolver_watch_begin(engine, found_function);
}

void selection_end(void)
{
    resolver_watch_end();
    selection.count = 0;
    selection.engine = NULL;
    selection.watcher = NULL;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* Without memory for it, more is told than was asked for. */
static void select_code(const struct agent_pattern *pattern, uint64_t start, uint64_t size_bytes)
{
    uint32_t number = (uint32_t)(pattern - selection.patterns);

    ring_region_note_match(selection.ring, number);
    if (pattern->use != AGENT_PATTERN_EXCLUDE) {
        ring_region_note_armed(selection.ring, 1ull << number);
        if (selection.watcher != NULL)
            selection.watcher->add(pattern, number, start, size_bytes);
    } else if (size_bytes != 0) {
        if (quiet_range_add(selection.engine, start, start + size_bytes) != 0)
            ring_region_note_lack(selection.ring);
    }
}

/* Where the symbol's code is in the mapping; false: elsewhere. */
static bool find_code(const struct selected_module *search, const struct elf_symbol *symbol, uint64_t *address_out,
                      uint64_t *available_out)
{
    const struct mapping *mapping = search->mapping;
    const uint8_t *code;
    uint64_t offset;

    if (elf_symbols_code(search->symbols, symbol->address, &code, available_out) != 0)
        return false;
    offset = (uint64_t)(code - search->symbols->bytes);
    if (offset < mapping->file_offset || offset - mapping->file_offset >= mapping->end - mapping->start)
        return false;
    *address_out = mapping->start + (offset - mapping->file_offset);
    return true;
}

static uint64_t measure(struct selected_module *search, const struct elf_symbol *symbol, uint64_t available)
{
    uint64_t size_bytes = symbol->size_bytes;

    if (size_bytes == 0 && search->measured < MEASURED_MAX) {
        search->measured++;
        size_bytes = elf_symbols_measure(search->symbols, symbol->address);
    }
    return size_bytes < available ? size_bytes : available;
}

static bool is_wanted(const struct agent_pattern *pattern, const struct elf_symbol *symbol)
{
    return pattern->use == AGENT_PATTERN_EXCLUDE || symbol->is_function;
}

/* A resolver runs once and only finds the function: whoever waits for the function does not mean it. */
static bool is_resolved_later(const struct agent_pattern *pattern, const struct elf_symbol *symbol)
{
    return pattern->use != AGENT_PATTERN_EXCLUDE && symbol->is_resolver;
}

static void found_function(const struct agent_pattern *pattern, uint64_t address)
{
    select_code(pattern, address, 0);
}

/* Tells what the controller knew of its arguments, unless the user said what they are. */
static void declare(const struct selected_module *search, const struct agent_pattern *pattern,
                    const struct elf_symbol *symbol, uint64_t address)
{
    const struct glob_text path = {search->mapping->path, search->mapping->path_length};
    const struct detail_declaration *declaration;

    if (pattern->use != AGENT_PATTERN_DETAIL || selection.known.count == 0 || selection.watcher == NULL)
        return;
    declaration = agent_known_find(&selection.known, agent_known_key(path, symbol->address));
    if (declaration != NULL)
        selection.watcher->declare(address, declaration);
}

/* A pattern means a function. False: its code is elsewhere. */
static bool take_meant(struct selected_module *search, unsigned which, const struct elf_symbol *symbol)
{
    const struct agent_pattern *pattern = &selection.patterns[which];
    uint64_t address, available;

    if (!find_code(search, symbol, &address, &available))
        return false;
    if (is_resolved_later(pattern, symbol)) {
        ring_region_note_unresolved(selection.ring, which);
        if (!resolver_watch_add(pattern, address))
            ring_region_note_lack(selection.ring);
        return true;
    }
    select_code(pattern, address, measure(search, symbol, available));
    declare(search, pattern, symbol, address);
    return true;
}

static void take_symbol(struct selected_module *search, const struct elf_symbol *symbol)
{
    const struct glob_text name = {symbol->name, symbol->name_length};

    for (uint64_t left = search->wanted & ~search->placed; left != 0; left &= left - 1) {
        unsigned which = (unsigned)__builtin_ctzll(left);

        if (!agent_pattern_has_function(&selection.parts[which], name) ||
            !is_wanted(&selection.patterns[which], symbol))
            continue;
        if (!take_meant(search, which, symbol))
            return;
    }
}

static void take_symbols(struct selected_module *search)
{
    uint64_t count = elf_symbols_count(search->symbols);
    struct elf_symbol symbol;

    for (uint64_t i = 0; i < count; i++)
        if (elf_symbols_peek(search->symbols, i, &symbol) == 0)
            take_symbol(search, &symbol);
}

/* A function need not have a name. */
static void take_address(struct selected_module *search, uint64_t address, uint64_t patterns)
{
    struct elf_symbol symbol = {.address = address, .is_function = true}, named;

    if (elf_symbols_find_address(search->symbols, address, &named) == 0 && named.address == address)
        symbol = named;
    for (uint64_t left = patterns & search->wanted; left != 0; left &= left - 1)
        (void)take_meant(search, (unsigned)__builtin_ctzll(left), &symbol);
}

/* Functions that the controller has looked up. */
static void take_placed(struct selected_module *search)
{
    const struct glob_text path = {search->mapping->path, search->mapping->path_length};
    const uint64_t module = agent_places_module(path);
    const struct agent_place *place;

    for (uint32_t i = 0; (place = agent_places_next(&selection.places, module, &i)) != NULL;)
        if (place->address != UINT64_MAX)
            take_address(search, place->address, place->patterns);
}

/* Functions of modules that nobody has looked into. */
static void take_addressed(struct selected_module *search)
{
    for (uint64_t left = search->wanted & ~search->placed; left != 0; left &= left - 1) {
        uint64_t address = selection.parts[__builtin_ctzll(left)].address;

        if (address != 0)
            take_address(search, address, left & -left);
    }
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

/* The program itself can be opened also when its file has another name by now, or none. */
static const char *path_of(const struct mapping *mapping, char path[MAPPING_PATH_BYTES_MAX + 1])
{
    if (selection_is_program(mapping))
        return PROGRAM_LINK;
    __builtin_memcpy(path, mapping->path, mapping->path_length);
    path[mapping->path_length] = '\0';
    return path;
}

static void note_matches(uint64_t matched)
{
    for (; matched != 0; matched &= matched - 1)
        ring_region_note_match(selection.ring, (uint32_t)__builtin_ctzll(matched));
}

static void take_probes(const struct selected_module *search)
{
    const struct probe_search probes = {
        .mapping = search->mapping,
        .symbols = search->symbols,
        .patterns = selection.patterns,
        .parts = selection.parts,
        .wanted = search->probed,
    };

    if (search->probed != 0 && selection.watcher != NULL && selection.watcher->probes != NULL)
        note_matches(selection.watcher->probes(&probes));
}

static void search_file(struct selected_module *search)
{
    char path[MAPPING_PATH_BYTES_MAX + 1];
    struct symbol_file file;

    if (symbol_file_open(path_of(search->mapping, path), &file) != 0)
        return;
    search->symbols = &file.symbols;
    if ((search->wanted & ~search->placed) != 0)
        take_symbols(search);
    take_addressed(search);
    if (search->placed != 0)
        take_placed(search);
    take_probes(search);
    symbol_file_close(&file);
}

static void search_memory(struct selected_module *search)
{
    const struct mapping *mapping = search->mapping;
    struct elf_symbols symbols;

    if (elf_symbols_parse((const void *)(uintptr_t)mapping->start, mapping->end - mapping->start, &symbols) != 0)
        return;
    search->symbols = &symbols;
    take_symbols(search);
}

static bool is_vdso(const struct mapping *mapping)
{
    return mapping->path_length == sizeof(VDSO) - 1 && __builtin_memcmp(mapping->path, VDSO, sizeof(VDSO) - 1) == 0;
}

/* What patterns are for. */
static void sort_patterns(struct selection_search *search, uint64_t patterns)
{
    for (; patterns != 0; patterns &= patterns - 1) {
        unsigned i = (unsigned)__builtin_ctzll(patterns);
        uint32_t use = selection.patterns[i].use;

        search->hooked |= (uint64_t)(use == AGENT_PATTERN_HOOK || selection.patterns[i].is_recorded) << i;
        search->excluded |= (uint64_t)(use == AGENT_PATTERN_EXCLUDE) << i;
        search->probed |= (uint64_t)(use == AGENT_PATTERN_PROBE) << i;
        search->errno_places |= (uint64_t)(use == AGENT_PATTERN_ERRNO) << i;
        search->detailed |= call_details_patterns() & 1ull << i;
    }
}

static uint64_t find_patterns(const struct mapping *mapping)
{
    const struct glob_text name = {mapping->path, mapping->path_length};
    uint64_t patterns = agent_places_patterns(&selection.places, agent_places_module(name));

    for (uint32_t i = 0; i < selection.count; i++)
        if (agent_pattern_has_module(&selection.parts[i], name, selection_is_program(mapping)))
            patterns |= 1ull << i;
    return patterns & (selection.count == 64 ? UINT64_MAX : (1ull << selection.count) - 1);
}

/* Nothing is followed: functions are hooked, or not. */
static void hook_module(const struct mapping *mapping)
{
    struct selection_search search = {
        .patterns = selection.patterns,
        .parts = selection.parts,
        .known = &selection.known,
        .places = &selection.places,
    };
    char path[MAPPING_PATH_BYTES_MAX + 1];
    uint64_t matched;

    sort_patterns(&search, find_patterns(mapping));
    matched = selection.watcher->module(mapping, path_of(mapping, path), &search);
    note_matches(matched);
    for (uint64_t left = search.unresolved; left != 0; left &= left - 1)
        ring_region_note_unresolved(selection.ring, (uint32_t)__builtin_ctzll(left));
}

/* ---- functions that are known later ------------------------------------------------------------------------------ */

static struct found_function {
    uint64_t address;
    uint64_t patterns;
    struct agent_places places; /* it alone */
} found;

static void hook_found(void *context, const struct mapping *mapping)
{
    struct selection_search search = {
        .patterns = selection.patterns,
        .parts = selection.parts,
        .known = &selection.known,
        .places = &found.places,
        .is_addition = true,
    };
    const struct glob_text name = {mapping->path, mapping->path_length};
    char path[MAPPING_PATH_BYTES_MAX + 1];
    struct symbol_file file;
    uint64_t address;

    (void)context;
    if (!mapping->is_executable || mapping->path_length == 0 || symbol_file_open(path_of(mapping, path), &file) != 0)
        return;
    found.places.count = 0;
    if (elf_symbols_address_at(&file.symbols, found.address - mapping->start + mapping->file_offset, &address) == 0 &&
        agent_places_add(&found.places, agent_places_module(name), address, found.patterns)) {
        sort_patterns(&search, found.patterns);
        note_matches(selection.watcher->module(mapping, path_of(mapping, path), &search));
    }
    symbol_file_close(&file);
}

void selection_function_found(uint64_t address, uint64_t patterns)
{
    if (selection.watcher == NULL || selection.watcher->module == NULL)
        return;
    found.address = address;
    found.patterns = patterns;
    (void)!mapping_list_visit(address, address + 1, hook_found, NULL);
}

void selection_module_loaded(const struct mapping *mapping)
{
    const struct glob_text path = {mapping->path, mapping->path_length};
    struct selected_module search = {.mapping = mapping};

    if (selection.watcher != NULL && selection.watcher->module != NULL) {
        if (!is_vdso(mapping))
            hook_module(mapping);
        return;
    }
    search.placed = agent_places_patterns(&selection.places, agent_places_module(path));
    for (uint32_t i = 0; i < selection.count; i++) {
        const struct agent_pattern *pattern = &selection.patterns[i];
        const struct agent_pattern_parts *parts = &selection.parts[i];

        if (pattern->use == AGENT_PATTERN_THREAD ||
            (!(search.placed & 1ull << i) && !agent_pattern_has_module(parts, path, selection_is_program(mapping))))
            continue;
        if (pattern->use == AGENT_PATTERN_PROBE)
            search.probed |= 1ull << i;
        else if (pattern->use == AGENT_PATTERN_EXCLUDE && agent_pattern_is_whole(parts))
            select_code(pattern, mapping->start, mapping->end - mapping->start);
        else
            search.wanted |= 1ull << i;
    }
    if (search.wanted == 0 && search.probed == 0)
        return;
    if (is_vdso(mapping))
        search_memory(&search);
    else
        search_file(&search);
}

void selection_module_unloaded(uint64_t start, uint64_t end)
{
    if (selection.engine != NULL)
        (void)!quiet_range_remove(selection.engine, start, end);
    if (selection.watcher != NULL)
        selection.watcher->remove(start, end);
}
