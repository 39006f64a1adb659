/* SPDX-License-Identifier: MIT */
/*
 * A trampoline does what the instructions do that it stands for, whether these are overwritten or not: so threads are
 * moved there before anything is patched, and it does not matter if somebody dies in between. What was hooked stays
 * known, with its code, until all ends: a thread may be anywhere.
 *
 * The hooks are those of a hook/hook_table.h that is held. Here is what is wanted of them, in which order they go, and
 * where threads are.
 */
#include "agent/hook_set.h"

#include "arch/thread_registers.h"
#include "base/interval_map.h"
#include "hook/handler_frames.h"
#include "hook/hook_site.h"
#include "hook/hook_table.h"
#include "hook/stub_knowledge.h"
#include "process/forced_memory.h"
#include "process/memory_probe.h"
#include "process/stack_scan.h"

#include <asm/errno.h>
#include <stddef.h>

#define CHUNK_BYTES (256u << 10)

/* What sites are used for: when they are removed. */
enum hook_use {
    USE_ORDINARY,
    USE_LAST,
    USE_EXIT, /* of a function that is ordinary */
    USE_COUNT,
};

static struct hook_set {
    struct hook_table *table;        /* NULL: there is none, or no memory for it */
    struct interval_map trampolines; /* of all sites that ever were -> struct hook_site */
    uint32_t count[USE_COUNT];       /* in place, by use */
    struct stack_scan scan;          /* while the set is open, once somebody has asked for it */
    bool is_scanning;
} set;

void hook_set_begin(void)
{
    const struct hook_table_options options = {
        .code_mode = CODE_VIEW_AUTO, .code_chunk_bytes = CHUNK_BYTES, .is_held = true};

    interval_map_init(&set.trampolines);
    if (hook_table_create(&options, &set.table) != 0)
        set.table = NULL;
}

int hook_set_open(void)
{
    return set.table == NULL ? -ENOMEM : hook_table_begin(set.table);
}

void hook_set_close(void)
{
    if (set.is_scanning)
        stack_scan_deinit(&set.scan);
    set.is_scanning = false;
    if (set.table != NULL)
        hook_table_pause(set.table);
}

void hook_set_end(void)
{
    (void)!hook_table_destroy(set.table);
    interval_map_deinit(&set.trampolines);
    set = (struct hook_set){.table = NULL};
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

static int add(const struct hook_order *order)
{
    const struct hook_site *site;
    int result = hook_table_order(set.table, order, &site);

    if (result != 0)
        return result;
    result = interval_map_insert(&set.trampolines, site->patch.trampoline.start, site->patch.trampoline.end,
                                 (uintptr_t)site);
    if (result != 0)
        hook_table_cancel(set.table, site);
    return result;
}

/* A trap would need a signal handler, which is the program's. */
int hook_set_add(const struct hook_wish *wish)
{
    const struct hook_order order = {
        .target = {.address = wish->plan->address,
                   .plan = wish->plan,
                   .expected = wish->expected,
                   .is_probe = wish->is_probe,
                   .without_traps = true},
        .listeners = wish->listeners,
        .listener_count = wish->listener_count,
        .is_recorded = wish->is_recorded,
        .number = wish->number,
        .is_goroutine = wish->is_goroutine,
        .is_exit = wish->is_exit,
        .use = wish->is_last   ? USE_LAST
               : wish->is_exit ? USE_EXIT
                               : USE_ORDINARY,
    };

    return add(&order);
}

int hook_set_add_system_call(const struct hook_plan *plan, const uint8_t *expected)
{
    const struct hook_order order = {
        .target = {.address = plan->address, .plan = plan, .expected = expected, .is_system_call = true}};

    return add(&order);
}

int hook_set_make_front(uint64_t function, const struct hook_listener *listener, uint64_t *entry_out)
{
    return set.table == NULL ? -ENOMEM : hook_table_make_front(set.table, function, listener, entry_out);
}

/* ---- putting in place -------------------------------------------------------------------------------------------- */

static const struct hook_site *site_in(const struct interval *interval)
{
    return (const struct hook_site *)(uintptr_t)interval->value;
}

static void count_in_place(void)
{
    for (unsigned use = 0; use < USE_COUNT; use++)
        set.count[use] = 0;
    for (size_t i = 0; i < interval_map_count(&set.trampolines); i++) {
        const struct hook_site *site = site_in(interval_map_at(&set.trampolines, i));

        set.count[site->use] += site->patch.is_in_place;
    }
}

int hook_set_commit(void)
{
    int result = hook_table_make(set.table);

    count_in_place();
    return result;
}

int hook_set_remove(bool with_last_ones)
{
    if (set.count[USE_ORDINARY] + set.count[USE_EXIT] == 0 && (set.count[USE_LAST] == 0 || !with_last_ones))
        return 0;
    for (size_t i = 0; i < interval_map_count(&set.trampolines); i++) {
        const struct hook_site *site = site_in(interval_map_at(&set.trampolines, i));

        if (site->patch.is_in_place && (with_last_ones || site->use != USE_LAST))
            hook_table_cancel(set.table, site);
    }
    return hook_set_commit();
}

void hook_set_forget(uint64_t start, uint64_t end)
{
    (void)hook_table_forget_range(set.table, start, end);
    count_in_place();
}

uint32_t hook_set_count(void)
{
    return set.count[USE_ORDINARY];
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* The site that has a trampoline, or the stub of a system call, there. NULL: none. */
static const struct hook_site *find_trampoline(uint64_t pc)
{
    struct interval found;

    return interval_map_find(&set.trampolines, pc, &found) ? site_in(&found) : NULL;
}

/* The one that has the program's bytes there. */
static const struct hook_site *find_site(uint64_t pc)
{
    return set.table == NULL ? NULL : hook_table_find_site(set.table, pc);
}

/* The one that has a jump in padding there. */
static const struct hook_site *find_hop(uint64_t pc)
{
    const struct hook_site *site = find_site(pc);

    return site != NULL && pc - site->patch.plan.hop_at < site->patch.plan.hop_bytes ? site : NULL;
}

static const struct forced_memory *memory(void)
{
    return hook_table_memory(set.table);
}

/* Where the copy of an instruction is that is, or will be, displaced. False: it is none, or the first. */
static bool find_copy(uint64_t pc, uint64_t *copy_out)
{
    const struct hook_site *site = find_site(pc);

    return site != NULL && hook_site_find_copy(site, memory(), pc, copy_out);
}

/*
 * Where the program's own code goes on, for a thread in a trampoline, or at a jump in padding that was there a moment
 * ago. Nowhere, as long as the function is patched: its instructions are not there.
 */
static bool find_original(uint64_t pc, uint64_t *original_out)
{
    const struct hook_site *hop = find_hop(pc);
    const struct hook_site *site = hop != NULL ? hop : find_trampoline(pc);
    uint64_t original;

    if (site == NULL || site->patch.is_in_place)
        return false;
    if (hop != NULL)
        original = hop->patch.plan.patch_at;
    else if (!hook_site_find_original(site, memory(), pc, &original))
        return false;
    *original_out = original;
    return true;
}

bool hook_set_find_instruction(uint64_t address, uint64_t *original_out)
{
    const struct hook_site *hop = find_hop(address);
    const struct hook_site *site;

    if (hop != NULL && hop->patch.is_in_place) {
        *original_out = hop->patch.plan.patch_at;
        return true;
    }
    site = find_trampoline(address);
    if (site != NULL)
        (void)hook_site_find_original(site, NULL, address, original_out);
    return site != NULL;
}

bool hook_set_find_displaced(uint64_t address, uint64_t *copy_out)
{
    const struct hook_site *site = find_site(address);

    return site != NULL && site->patch.is_in_place && hook_site_find_copy(site, NULL, address, copy_out);
}

bool hook_set_is_before_instruction(uint64_t address)
{
    const struct hook_site *site = find_trampoline(address);
    uint64_t original;

    return site == NULL || hook_site_find_original(site, NULL, address, &original);
}

static bool is_in_code(uint64_t address)
{
    return set.table != NULL && hook_table_has_code(set.table, address);
}

/* What a stub begins with leads to its site; what is no stub, to anything. */
struct hook_stub_place hook_set_find_stub(uint64_t address)
{
    uint64_t start = (address & ~(uint64_t)(HOOK_STUB_ALIGNMENT - 1)) - STUB_FUNCTION, function, code;
    struct hook_stub_place place = {.start = start};
    struct near_piece piece;

    if (!is_in_code(address) || memory_probe_copy(start + STUB_FUNCTION, &function, sizeof(function)) != 0 ||
        memory_probe_copy(function - offsetof(struct hook_site, function) + offsetof(struct hook_site, stub), &code,
                          sizeof(code)) != 0 ||
        memory_probe_copy(code + offsetof(struct site_code, piece), &piece, sizeof(piece)) != 0 ||
        start - piece.start >= piece.size_bytes)
        return place;
    place.function = (const struct hook_function *)(uintptr_t)function;
    place.parts = stub_parts(start);
    return place;
}

struct pc_moves {
    bool (*find)(uint64_t pc, uint64_t *new_out);
};

static void move_interrupted(void *context, uint64_t place, uint64_t pc)
{
    const struct pc_moves *moves = context;
    uint64_t new_pc;

    if (moves->find(pc, &new_pc))
        (void)!forced_memory_write(memory(), place, &new_pc, sizeof(new_pc));
}

/*
 * Where a thread that comes out of the kernel goes on, or makes its call again, which of both is not known yet: behind
 * the instruction, in the copy if that is overwritten, or what is before it.
 */
static bool find_behind_call(uint64_t pc, uint64_t distance, bool (*find)(uint64_t pc, uint64_t *new_out),
                             uint64_t *new_out)
{
    if (distance == 0 || !find(pc - distance, new_out))
        return find(pc, new_out);
    *new_out += distance;
    return true;
}

static void scan_stacks(int tid, const struct thread_registers *registers, void *context,
                        void (*interrupted)(void *context, uint64_t place, uint64_t pc))
{
    /* For all threads, which stand still. */
    if (!set.is_scanning)
        stack_scan_init(&set.scan, memory());
    set.is_scanning = true;
    set.scan.context = context;
    set.scan.interrupted = interrupted;
    stack_scan_run(&set.scan, thread_registers_sp(registers));
    handler_frames_visit(tid, thread_registers_sp(registers), &set.scan);
}

/* A system call in displaced instructions has its copy at the same distance. */
static bool move(int tid, struct thread_registers *registers, bool (*find)(uint64_t pc, uint64_t *new_out))
{
    struct pc_moves moves = {find};
    struct thread_registers restarted = *registers;
    uint64_t pc = thread_registers_pc(registers), distance, new_pc;

    scan_stacks(tid, registers, &moves, move_interrupted);
    thread_registers_take_restart(&restarted);
    distance = pc - thread_registers_pc(&restarted);
    if (!find_behind_call(pc, distance, find, &new_pc))
        return false;
    thread_registers_set_pc(registers, new_pc);
    return true;
}

bool hook_set_move_in(int tid, struct thread_registers *registers)
{
    return move(tid, registers, find_copy);
}

bool hook_set_move_out(int tid, struct thread_registers *registers)
{
    return move(tid, registers, find_original);
}

bool hook_set_contains(uint64_t address)
{
    const struct hook_site *hop = find_hop(address);

    return is_in_code(address) || (hop != NULL && hop->patch.is_in_place);
}

struct pc_search {
    bool (*is_there)(uint64_t pc);
    bool is_found;
};

static void look_at_interrupted(void *context, uint64_t place, uint64_t pc)
{
    struct pc_search *search = context;

    (void)place;
    search->is_found |= search->is_there(pc);
}

bool hook_set_finds_pc(int tid, const struct thread_registers *registers, bool (*is_there)(uint64_t pc))
{
    struct pc_search search = {is_there, is_there(thread_registers_pc(registers))};

    if (search.is_found)
        return true;
    scan_stacks(tid, registers, &search, look_at_interrupted);
    return search.is_found;
}
