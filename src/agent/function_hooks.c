/* SPDX-License-Identifier: MIT */
/*
 * A function has a number, under which the ring has a block that begins where it does. Functions are told before they
 * are hooked, so whoever reads a record knows what it is of. All that was told is kept, for children that are forked.
 */
#include "agent/function_hooks.h"

#include "agent/errno_place.h"
#include "agent/hook_choice.h"
#include "agent/hook_details.h"
#include "agent/hook_set.h"
#include "agent/indirect_functions.h"
#include "agent/probe_hooks.h"
#include "agent/probe_set.h"
#include "agent/process_hooks.h"
#include "agent/selection.h"
#include "agent/system_call_watch.h"
#include "agent/unhooked_function.h"
#include "base/counters.h"
#include "base/memory_functions.h"
#include "base/memory_map.h"
#include "base/slab.h"
#include "hook/go/exit_plan.h"
#include "hook/go/goroutine.h"
#include "hook/hook_image.h"
#include "hook/hook_unwinders.h"
#include "hook/instruction_plan.h"
#include "process/mapping_list.h"
#include "protocol/agent_known.h"
#include "ring/event_decoder.h"
#include "ring/ring_region.h"

#include <asm/errno.h>

/* Longer than all names of functions that we need to know of ourselves. */
#define SPECIAL_NAME_BYTES 32

/* A function that was told. */
struct told_function {
    struct told_function *next;
    uint64_t address;
    uint32_t size_bytes;
    uint32_t number;
};

static struct function_hooks {
    struct function_hooks_options options;
    uint64_t start; /* of a static program whose functions are not all known before; 0: it does not matter */
    uint32_t space;
    uint32_t count; /* of those that were told */
    struct told_function *told;
    struct slab memory;
} hooks;

/* A function that is hooked for what we need to know ourselves, if one of these is not NULL. */
struct special_hook {
    const struct process_hook *process;
    const struct hook_listener *unwinder;
};

/* A module that is looked through. */
struct hook_search {
    const struct mapping *mapping;
    const struct selection_search *wanted;
    struct hook_image image;
    struct hook_choice choice;
    struct special_hook *specials; /* for each function */
    uint8_t *planned;              /* a bit for each function */
    size_t memory_bytes;           /* of what is chosen, and the above */
    bool has_any;
    bool is_go_known; /* hook_goroutines_find() was called */
    uint64_t armed;   /* patterns by which something is hooked */
};

void function_hooks_begin(const struct function_hooks_options *options)
{
    hook_set_begin();
    hooks = (struct function_hooks){.options = *options, .space = ring_region_new_space(options->ring)};
    slab_init(&hooks.memory, 0);
}

void function_hooks_end(void)
{
    if (hooks.options.ring == NULL)
        return;
    hook_set_end();
    slab_deinit(&hooks.memory);
    hooks = (struct function_hooks){.count = 0};
}

uint32_t function_hooks_space(void)
{
    return hooks.space;
}

int function_hooks_commit(void)
{
    return hook_set_commit();
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static void tell(const struct told_function *function)
{
    const struct event_block block = {.start = function->address, .size_bytes = function->size_bytes};

    (void)ring_region_add_block(hooks.options.ring, hooks.space, function->number, &block);
}

/* Gives it a number. False: no memory. */
static bool number_function(uint64_t address, uint64_t size_bytes, uint32_t *number_out)
{
    struct told_function *function =
        slab_allocate_zeroed(&hooks.memory, sizeof(*function), _Alignof(struct told_function));

    if (function == NULL || hooks.count >= EVENT_NUMBER_MAX)
        return false;
    *function = (struct told_function){
        .next = hooks.told,
        .address = address,
        .size_bytes = size_bytes < UINT32_MAX ? (uint32_t)size_bytes : UINT32_MAX,
        .number = hooks.count++,
    };
    hooks.told = function;
    tell(function);
    *number_out = function->number;
    return true;
}

void function_hooks_begin_in_child(void)
{
    for (const struct told_function *function = hooks.told; function != NULL; function = function->next)
        tell(function);
}

/* ---- hooking ----------------------------------------------------------------------------------------------------- */

/* The bytes of the file that are at an address, if the mapping has them. NULL: it does not. */
static const uint8_t *find_bytes(const struct hook_search *search, uint64_t address, uint64_t *mapped_out)
{
    const struct mapping *mapping = search->mapping;
    const uint8_t *bytes;
    uint64_t available, offset;

    if (elf_symbols_code(&search->image.file.symbols, address, &bytes, &available) != 0)
        return NULL;
    offset = (uint64_t)(bytes - (const uint8_t *)search->image.file.memory);
    if (offset < mapping->file_offset || offset - mapping->file_offset >= mapping->end - mapping->start)
        return NULL;
    *mapped_out = mapping->start + (offset - mapping->file_offset);
    return bytes;
}

/* Listeners for what we need to know ourselves; there is never more than one reason for one. */
static void choose_listener(const struct hook_search *search, size_t which, uint64_t address, struct hook_wish *wish)
{
    const struct special_hook *special = &search->specials[which];
    struct hook_listener listener = {.flags = HOOK_LISTENER_GENERAL_ONLY};

    if (address == hooks.options.loader_notification) {
        listener.enter = hooks.options.changed;
    } else if (address == hooks.start) {
        listener.enter = hooks.options.started;
    } else if (special->process != NULL) {
        listener.enter = special->process->enter;
        listener.leave = special->process->leave;
        wish->is_last = special->process->is_last;
    } else if (special->unwinder != NULL) {
        listener = *special->unwinder;
        wish->is_last = true;
    }
    if (listener.enter != NULL)
        wish->listeners[wish->listener_count++] = listener;
}

/* What the user said of its arguments first, or what the controller knows. */
static const struct detail_declaration *find_declaration(const struct hook_search *search, uint64_t patterns,
                                                         uint64_t file_address)
{
    const struct glob_text path = {search->mapping->path, search->mapping->path_length};

    for (uint64_t left = patterns; left != 0; left &= left - 1) {
        const struct agent_pattern *pattern = &search->wanted->patterns[__builtin_ctzll(left)];

        if (pattern->use == AGENT_PATTERN_DETAIL && pattern->declaration.is_given)
            return &pattern->declaration;
    }
    return search->wanted->known->count == 0
               ? NULL
               : agent_known_find(search->wanted->known, agent_known_key(path, file_address));
}

/* The listener for what was asked of its calls. */
static void choose_details(const struct hook_search *search, size_t which, struct hook_wish *wish)
{
    uint64_t patterns = search->choice.chosen[which].patterns & search->wanted->detailed;
    uint64_t file_address = search->image.functions.functions[which].start;

    if (patterns == 0)
        return;
    if (hook_details_listener(patterns, find_declaration(search, patterns, file_address),
                              &wish->listeners[wish->listener_count]))
        wish->listener_count++;
    else
        ring_region_note_lack(hooks.options.ring);
}

/* Whether a pattern wants it that does not want everything. */
static bool is_named(const struct hook_search *search, size_t which)
{
    for (uint64_t left = search->choice.chosen[which].patterns; left != 0; left &= left - 1)
        if (!agent_pattern_is_whole(&search->wanted->parts[__builtin_ctzll(left)]))
            return true;
    return false;
}

static bool has_wildcard(struct glob_text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.start[i] == '*' || text.start[i] == '?' || text.start[i] == '[')
            return true;
    return false;
}

/* Whether a pattern wants it and no other. */
static bool is_asked_for(const struct hook_search *search, size_t which)
{
    for (uint64_t left = search->choice.chosen[which].patterns; left != 0; left &= left - 1) {
        const struct agent_pattern_parts *parts = &search->wanted->parts[__builtin_ctzll(left)];

        if (parts->function.length != 0 && !has_wildcard(parts->function))
            return true;
    }
    return false;
}

/* -EOPNOTSUPP: a trap would do. */
static const char *explain(int result, const struct hook_plan *plan)
{
    switch (result) {
    case -EOPNOTSUPP:
        return hook_obstacle_text(plan->obstacle);
    case -ESTALE:
        return "its code is not that of its file: somebody has changed it";
    default:
        return "its code cannot be changed";
    }
}

static void tell_unhooked(const struct hook_search *search, uint64_t address, bool is_named, const char *why)
{
    const struct unhooked_function unhooked = {
        .mapping = search->mapping,
        .symbols = &search->image.file.symbols,
        .address = address,
        .is_named = is_named,
        .why = why,
    };

    unhooked_function_tell(hooks.options.ring, &unhooked);
}

/* ---- returns of Go's functions ----------------------------------------------------------------------------------- */

/*
 * A goroutine that was interrupted waits with its pc on its own stack, where nobody finds it: so nothing is taken along
 * with a return unless the program has not begun. In other functions the register may not be the goroutine.
 */
static bool may_see_exits(struct hook_search *search, const struct hook_plan *plan)
{
    if (!hooks.options.is_whole || !plan->is_checked || !plan->is_entry_only)
        return false;
    if (!search->is_go_known && hook_goroutine_number_at == 0)
        (void)hook_goroutines_find(search->image.file.memory, search->image.file.size_bytes);
    search->is_go_known = true;
    return hook_goroutine_number_at != 0;
}

static int hook_exit(const struct hook_search *search, const struct hook_plan *planned, uint32_t number)
{
    struct hook_wish wish = {.is_recorded = true, .number = number, .is_goroutine = true, .is_exit = true};
    struct hook_plan plan = *planned;
    uint64_t address;

    wish.expected = find_bytes(search, plan.patch_at, &address);
    if (wish.expected == NULL)
        return -EOPNOTSUPP;
    hook_plan_move(&plan, address - plan.patch_at);
    wish.plan = &plan;
    return hook_set_add(&wish);
}

/*
 * All of them, or the function is known by its entry only; a return that is hooked then is of a call that nobody saw,
 * and means nothing. One call at a time, so the plans need not be on the stack.
 */
static bool hook_exits(struct hook_search *search, const struct elf_function *function, const struct hook_plan *plan,
                       uint32_t number)
{
    static struct hook_plan exits[EXIT_PLANS_MAX];
    size_t count, hooked = 0;

    if (!may_see_exits(search, plan) || exit_plans_make(&search->image.planner, function, plan, exits, &count) != 0)
        return false;
    while (hooked < count && hook_exit(search, &exits[hooked], number) == 0)
        hooked++;
    exit_plans_release(&search->image.planner, exits + hooked, count - hooked);
    return hooked == count;
}

static int hook_planned(struct hook_search *search, size_t which, struct hook_wish *wish)
{
    const struct elf_function *function = &search->image.functions.functions[which];
    int result = hook_set_add(wish);

    if (result == 0)
        search->armed |= search->choice.chosen[which].patterns;
    else if (result != -ENOMEM)
        tell_unhooked(search, function->start, is_named(search, which), explain(result, wish->plan));
    return result;
}

static int hook_function(struct hook_search *search, size_t which)
{
    const struct elf_function *function = &search->image.functions.functions[which];
    uint64_t patterns = search->choice.chosen[which].patterns;
    struct hook_wish wish = {.is_recorded = (patterns & search->wanted->hooked) != 0};
    struct hook_plan plan, original;
    uint64_t address;
    const uint8_t *bytes = find_bytes(search, function->start, &address);

    if (bytes == NULL)
        return 0;
    if (patterns & search->wanted->errno_places)
        errno_place_add(address);
    choose_listener(search, which, address, &wish);
    choose_details(search, which, &wish);
    if (!wish.is_recorded && wish.listener_count == 0)
        return 0;
    hook_planner_plan(&search->image.planner, function, &plan);
    /* A part that is jumped to, or something that only traps, is none. */
    if (plan.method == HOOK_IMPOSSIBLE) {
        bool is_odd = plan.obstacle != HOOK_NOT_A_FUNCTION && plan.obstacle != HOOK_IS_A_TRAP;

        if (is_odd || is_asked_for(search, which))
            tell_unhooked(search, function->start, is_named(search, which), hook_obstacle_text(plan.obstacle));
        return is_odd ? -EOPNOTSUPP : 0;
    }
    wish.expected = bytes + (plan.patch_at - function->start);
    original = plan;
    hook_plan_move(&plan, address - function->start);
    wish.plan = &plan;
    if (wish.is_recorded && !number_function(address, function->size_bytes, &wish.number))
        return -ENOMEM;
    wish.is_goroutine =
        wish.is_recorded && wish.listener_count == 0 && hook_exits(search, function, &original, wish.number);
    return hook_planned(search, which, &wish);
}

/* Where signal handlers return to is known by its bytes, and left alone. */
static void hook_system_call(void *context, const struct hook_plan *found)
{
    struct hook_search *search = context;
    struct hook_plan plan = *found;
    uint64_t address;
    const uint8_t *bytes;
    int result;

    if (plan.method == HOOK_IMPOSSIBLE && plan.obstacle == HOOK_KNOWN_BY_BYTES)
        return;
    bytes = find_bytes(search, plan.patch_at, &address);
    if (bytes == NULL)
        return;
    hook_plan_move(&plan, address - plan.patch_at);
    result = plan.method == HOOK_IMPOSSIBLE ? -EOPNOTSUPP : hook_set_add_system_call(&plan, bytes);
    if (result == -ENOMEM)
        ring_region_note_lack(hooks.options.ring);
    else if (result != 0)
        tell_unhooked(search, found->patch_at, false, "a system call there cannot be patched");
}

static void hook_chosen(struct hook_search *search)
{
    if (system_call_watch_is_wanted() && !search->wanted->is_addition)
        hook_planner_find_system_calls(&search->image.planner, hook_system_call, search);
    for (size_t i = 0; i < search->image.functions.count; i++) {
        int result = hook_function(search, i);

        if (result != 0 && search->specials[i].unwinder != NULL)
            counter_add(COUNTER_hook_unwinders_missing, 1);
        if (result == -ENOMEM)
            ring_region_note_lack(hooks.options.ring);
    }
    ring_region_note_armed(hooks.options.ring, search->armed);
}

/* ---- looking ----------------------------------------------------------------------------------------------------- */

static bool find_special(const struct elf_symbol *symbol, struct special_hook *special_out)
{
    char name[SPECIAL_NAME_BYTES];

    if (symbol->name_length >= sizeof(name))
        return false;
    memcpy(name, symbol->name, symbol->name_length);
    name[symbol->name_length] = '\0';
    special_out->process = process_hook_find(name, symbol->name_length);
    special_out->unwinder = hook_unwinder_find(name);
    return special_out->process != NULL || special_out->unwinder != NULL;
}

static void find_specials(struct hook_search *search)
{
    const struct elf_symbols *symbols = &search->image.file.symbols;
    uint64_t count = elf_symbols_count(symbols);
    struct elf_symbol symbol;

    for (uint64_t i = 0; i < count; i++) {
        const struct elf_function *function;
        struct special_hook special;

        if (elf_symbols_peek(symbols, i, &symbol) != 0 || !symbol.is_function || !find_special(&symbol, &special))
            continue;
        function = elf_function_list_find(&search->image.functions, symbol.address);
        if (function != NULL && function->start == symbol.address) {
            search->specials[function - search->image.functions.functions] = special;
            if (special.process != NULL && special.process->found != NULL)
                special.process->found();
            search->has_any = true;
        }
    }
}

static int take_memory(struct hook_search *search)
{
    size_t count = search->image.functions.count;
    void *storage;
    int result;

    search->memory_bytes = count * (sizeof(struct hook_chosen) + sizeof(struct special_hook)) + count / 8 + 1;
    if (count == 0)
        return -ENOENT;
    result = memory_map(search->memory_bytes, &storage);
    if (result != 0)
        return result;
    search->choice.chosen = storage;
    search->specials = (struct special_hook *)(void *)(search->choice.chosen + count);
    search->planned = (uint8_t *)(search->specials + count);
    return 0;
}

static bool is_anything_chosen(const struct hook_search *search)
{
    bool has_any = search->has_any;

    for (size_t i = 0; !has_any && i < search->image.functions.count; i++)
        has_any = search->choice.chosen[i].patterns != 0;
    return has_any;
}

static bool is_loader(const struct mapping *mapping)
{
    return hooks.options.loader_notification - mapping->start < mapping->end - mapping->start ||
           hooks.start - mapping->start < mapping->end - mapping->start;
}

/* As hook_function() asks for plans. */
static bool is_planned(const struct hook_search *search, size_t which)
{
    const struct special_hook *special = &search->specials[which];
    uint64_t address;

    return search->choice.chosen[which].patterns != 0 || special->process != NULL || special->unwinder != NULL ||
           (find_bytes(search, search->image.functions.functions[which].start, &address) != NULL &&
            (address == hooks.options.loader_notification || address == hooks.start));
}

/* Probes may be anywhere, so all code has to be looked at for them. */
static int survey(struct hook_search *search, bool has_probes)
{
    const struct hook_interest interest = {search->planned, system_call_watch_is_wanted()};

    for (size_t i = 0; i < search->image.functions.count; i++)
        if (is_planned(search, i))
            search->planned[i / 8] |= (uint8_t)(1u << i % 8);
    return hook_image_survey(&search->image, has_probes ? NULL : &interest);
}

/* A static program, of which nobody tells when it is relocated, is when it gets to its main. */
static void find_start(const struct hook_search *search)
{
    struct elf_symbol symbol;
    uint64_t address;

    if (hooks.options.is_static && elf_symbols_find(&search->image.file.symbols, "main", &symbol) == 0 &&
        find_bytes(search, symbol.address, &address) != NULL)
        hooks.start = address;
}

/* What resolvers choose is hooked when they can be asked. */
static void add_indirect(const struct hook_search *search)
{
    bool has_any = false;

    for (size_t i = 0; i < search->image.functions.count; i++) {
        const struct elf_function *function = &search->image.functions.functions[i];
        uint64_t address, patterns = search->choice.chosen[i].indirect;

        has_any |= patterns != 0;
        if (patterns != 0 && find_bytes(search, function->start, &address) != NULL)
            indirect_functions_add(address, patterns, function->name, function->name_length);
    }
    if (has_any)
        find_start(search);
}

static uint64_t hook_all(struct hook_search *search, const struct probe_search *probes)
{
    uint64_t matched = probe_hooks_add(probes, &search->image);

    hook_chosen(search);
    return matched;
}

static uint64_t look_through(struct hook_search *search)
{
    const struct selection_search *wanted = search->wanted;
    const struct probe_search probes = {
        .mapping = search->mapping,
        .symbols = &search->image.file.symbols,
        .patterns = wanted->patterns,
        .parts = wanted->parts,
        .wanted = wanted->probed,
    };
    uint64_t matched;

    search->choice.symbols = &search->image.file.symbols;
    search->choice.functions = &search->image.functions;
    search->choice.parts = wanted->parts;
    search->choice.wanted = wanted->hooked | wanted->detailed | wanted->errno_places;
    search->choice.unwanted = wanted->excluded;
    search->choice.entry = search->image.entry;
    search->choice.places = wanted->places;
    search->choice.module =
        agent_places_module((struct glob_text){search->mapping->path, search->mapping->path_length});
    matched = search->choice.wanted == 0 ? 0 : hook_choice_make(&search->choice);
    add_indirect(search);
    if (!wanted->is_addition)
        find_specials(search);
    if (is_anything_chosen(search) || is_loader(search->mapping) || probe_set_has_any(&probes) ||
        system_call_watch_is_wanted()) {
        if (survey(search, probe_set_has_any(&probes)) == 0)
            matched |= hook_all(search, &probes);
        else
            ring_region_note_lack(hooks.options.ring);
    }
    return matched;
}

uint64_t function_hooks_add(const struct mapping *mapping, const char *path, struct selection_search *wanted)
{
    struct hook_search search = {.mapping = mapping, .wanted = wanted};
    uint64_t matched = 0;
    int result = hook_image_open(&search.image, path);

    if (result == 0) {
        result = take_memory(&search);
        if (result == 0) {
            matched = look_through(&search);
            wanted->unresolved = search.choice.unresolved;
            memory_unmap(search.choice.chosen, search.memory_bytes);
        }
        hook_image_close(&search.image);
    }
    if (result == -ENOMEM)
        ring_region_note_lack(hooks.options.ring);
    return matched;
}
