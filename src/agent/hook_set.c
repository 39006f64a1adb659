/* SPDX-License-Identifier: MIT */
/*
 * A trampoline does what the instructions do that it stands for, whether these are overwritten or not: so threads are
 * moved there before anything is patched, and it does not matter if somebody dies in between. What was hooked stays
 * known, with its code, until all ends: a thread may be anywhere.
 */
#include "agent/hook_set.h"

#include "arch/thread_registers.h"
#include "base/interval_map.h"
#include "base/memory_functions.h"
#include "base/slab.h"
#include "hook/handler_frames.h"
#include "hook/hook_site.h"
#include "hook/patch_transaction.h"
#include "hook/stub_knowledge.h"
#include "hook/system_call_stub.h"
#include "process/forced_memory.h"
#include "process/memory_probe.h"
#include "process/near_memory.h"
#include "process/stack_scan.h"

#include <asm/errno.h>
#include <stddef.h>

#define CHUNK_BYTES (256u << 10)

struct hooked {
    struct hook_site site;
    bool is_last; /* to be removed */
};

/* A place where system calls are made. */
struct hooked_call {
    struct hooked hooked;
    struct system_call_stub stub;
};

static struct hook_set {
    struct forced_memory memory;
    struct near_memory code;
    struct pool codes; /* of struct site_code */
    struct slab storage;
    struct interval_map originals;   /* [patch_at, end of what is displaced) -> struct hooked */
    struct interval_map trampolines; /* -> struct hooked */
    struct interval_map hops;        /* the jumps in padding -> struct hooked */
    struct patch_transaction transaction;
    uint32_t count; /* in place, without the last ones */
    uint32_t last_count;
    bool is_used;
    struct stack_scan scan; /* while the memory is open, once somebody has asked for it */
    bool is_scanning;
} set = {.memory = {.fd = -1}};

static const struct site_maker maker = {&set.memory, &set.code, &set.codes};

void hook_set_begin(void)
{
    near_memory_init(&set.code, CODE_VIEW_AUTO, CHUNK_BYTES);
    (void)!pool_init(&set.codes, sizeof(struct site_code));
    slab_init(&set.storage, 0);
    interval_map_init(&set.originals);
    interval_map_init(&set.trampolines);
    interval_map_init(&set.hops);
    patch_transaction_init(&set.transaction);
    set.is_used = true;
}

int hook_set_open(void)
{
    int result = forced_memory_init(&set.memory);

    if (result != 0)
        set.memory.fd = -1;
    return result;
}

void hook_set_close(void)
{
    if (set.is_scanning)
        stack_scan_deinit(&set.scan);
    set.is_scanning = false;
    forced_memory_deinit(&set.memory);
}

void hook_set_end(void)
{
    if (!set.is_used)
        return;
    patch_transaction_deinit(&set.transaction);
    interval_map_deinit(&set.originals);
    interval_map_deinit(&set.trampolines);
    interval_map_deinit(&set.hops);
    near_memory_deinit(&set.code);
    pool_deinit(&set.codes);
    slab_deinit(&set.storage);
    set = (struct hook_set){.memory = {.fd = -1}};
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

/* What is said of all of them is that they use general registers only. */
static int make_listeners(const struct hook_wish *wish, const struct hook_listeners **listeners_out)
{
    size_t items_bytes = wish->listener_count * sizeof(struct hook_listener);
    struct hook_listeners *listeners;

    if (wish->listener_count == 0)
        return 0;
    listeners = slab_allocate_zeroed(&set.storage, sizeof(*listeners) + items_bytes, _Alignof(struct hook_listeners));
    if (listeners == NULL)
        return -ENOMEM;
    *listeners = (struct hook_listeners){.count = wish->listener_count,
                                         .places = wish->listener_count,
                                         .last_serial = wish->listener_count,
                                         .is_general_only = 1};
    for (uint32_t i = 0; i < wish->listener_count; i++) {
        listeners->items[i] = wish->listeners[i];
        listeners->items[i].place = i;
        listeners->items[i].serial = i + 1;
    }
    *listeners_out = listeners;
    return 0;
}

/* Its first stub, which it keeps. */
static int write_stub(struct hook_site *site, const struct hook_wish *wish)
{
    struct site_wish wanted = {.is_recorded = wish->is_recorded};
    struct site_lead lead;
    int result = make_listeners(wish, &wanted.listeners);

    site->function.record_number = wish->number;
    site->function.listeners = wanted.listeners;
    if (result == 0)
        result = hook_site_lead(site, &wanted, &maker, &lead);
    if (result == 0)
        site->stub = lead.stub;
    return result;
}

static int note_places(struct hooked *hooked)
{
    const struct patch *patch = &hooked->site.patch;
    const struct hook_plan *plan = &patch->plan;
    uint64_t end = hook_site_end(&hooked->site);
    uintptr_t value = (uintptr_t)hooked;
    int result = interval_map_insert(&set.originals, plan->patch_at, end, value);

    if (result != 0)
        return result;
    result = interval_map_insert(&set.trampolines, patch->trampoline.start, patch->trampoline.end, value);
    if (result == 0 && plan->hop_bytes != 0)
        result = interval_map_insert(&set.hops, plan->hop_at, plan->hop_at + plan->hop_bytes, value);
    if (result != 0)
        (void)!interval_map_remove(&set.originals, plan->patch_at, end);
    return result;
}

static int install(struct hooked *hooked)
{
    int result = note_places(hooked);

    return result != 0 ? result
                       : patch_transaction_install(&set.transaction, &hooked->site.patch, hooked->site.stub->entry);
}

int hook_set_add(const struct hook_wish *wish)
{
    const struct site_purpose purpose = {wish->plan, wish->expected, wish->is_probe};
    struct hooked *hooked;
    int result;

    /* A trap would need a signal handler, which is the program's. */
    if (wish->plan->method == HOOK_TRAP)
        return -EOPNOTSUPP;
    hooked = slab_allocate_zeroed(&set.storage, sizeof(*hooked), _Alignof(struct hooked));
    if (hooked == NULL)
        return -ENOMEM;
    hooked->is_last = wish->is_last;
    result = hook_site_init(&hooked->site, &purpose, &maker);
    if (result == 0)
        result = write_stub(&hooked->site, wish);
    return result != 0 ? result : install(hooked);
}

int hook_set_add_system_call(const struct hook_plan *plan, const uint8_t *expected)
{
    const struct site_purpose purpose = {.plan = plan, .expected = expected};
    struct hooked_call *call = slab_allocate_zeroed(&set.storage, sizeof(*call), _Alignof(struct hooked_call));
    int result = call == NULL ? -ENOMEM : hook_site_init_call(&call->hooked.site, &purpose, &call->stub, &maker);

    return result != 0 ? result : install(&call->hooked);
}

int hook_set_make_front(uint64_t function, const struct hook_listener *listener, uint64_t *entry_out)
{
    const struct hook_wish wish = {.listeners = {*listener}, .listener_count = 1};
    struct hooked *hooked = slab_allocate_zeroed(&set.storage, sizeof(*hooked), _Alignof(struct hooked));
    int result;

    if (hooked == NULL)
        return -ENOMEM;
    hook_site_init_front(&hooked->site, function);
    result = write_stub(&hooked->site, &wish);
    if (result == 0)
        result = near_memory_commit(&set.code);
    if (result == 0)
        *entry_out = hooked->site.stub->entry;
    return result;
}

/* ---- putting in place -------------------------------------------------------------------------------------------- */

/* Threads were moved before, or are not in there. */
static int with_nobody(void *source_context, threads_change change, void *context)
{
    (void)source_context;
    return change(context, NULL, 0);
}

static int commit(void)
{
    const struct patch_environment environment = {.memory = &set.memory, .stop = with_nobody};

    return patch_transaction_commit(&set.transaction, &environment);
}

static struct hooked *hooked_at(const struct interval *interval)
{
    return (struct hooked *)(uintptr_t)interval->value;
}

static void count_in_place(void)
{
    set.count = set.last_count = 0;
    for (size_t i = 0; i < interval_map_count(&set.originals); i++) {
        const struct hooked *hooked = hooked_at(interval_map_at(&set.originals, i));

        if (hooked->site.patch.is_in_place)
            *(hooked->is_last ? &set.last_count : &set.count) += 1;
    }
}

int hook_set_commit(void)
{
    int result;

    if (set.transaction.count == 0)
        return 0;
    result = near_memory_commit(&set.code);
    if (result == 0)
        result = commit();
    count_in_place();
    return result;
}

int hook_set_remove(bool with_last_ones)
{
    int result = 0;

    if (set.count == 0 && (set.last_count == 0 || !with_last_ones))
        return 0;
    for (size_t i = 0; i < interval_map_count(&set.originals) && result == 0; i++) {
        struct hooked *hooked = hooked_at(interval_map_at(&set.originals, i));

        if (hooked->site.patch.is_in_place && (with_last_ones || !hooked->is_last))
            result = patch_transaction_remove(&set.transaction, &hooked->site.patch);
    }
    if (result == 0)
        result = commit();
    count_in_place();
    return result;
}

void hook_set_forget(uint64_t start, uint64_t end)
{
    for (size_t i = interval_map_index_from(&set.originals, start); i < interval_map_count(&set.originals); i++) {
        struct hooked *hooked = hooked_at(interval_map_at(&set.originals, i));

        if (hooked->site.patch.plan.patch_at >= end)
            break;
        hooked->site.patch.is_in_place = false;
    }
    (void)!interval_map_remove(&set.originals, start, end);
    (void)!interval_map_remove(&set.hops, start, end);
    count_in_place();
}

uint32_t hook_set_count(void)
{
    return set.count;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static const struct hook_site *find_site(const struct interval_map *map, uint64_t pc)
{
    struct interval found;

    return interval_map_find(map, pc, &found) ? &hooked_at(&found)->site : NULL;
}

/* Where the copy of an instruction is that is, or will be, displaced. False: it is none, or the first. */
static bool find_copy(uint64_t pc, uint64_t *copy_out)
{
    const struct hook_site *site = find_site(&set.originals, pc);

    return site != NULL && hook_site_find_copy(site, &set.memory, pc, copy_out);
}

/*
 * Where the program's own code goes on, for a thread in a trampoline, or at a jump in padding that was there a moment
 * ago. Nowhere, as long as the function is patched: its instructions are not there.
 */
static bool find_original(uint64_t pc, uint64_t *original_out)
{
    const struct hook_site *hop = find_site(&set.hops, pc);
    const struct hook_site *site = hop != NULL ? hop : find_site(&set.trampolines, pc);
    uint64_t original;

    if (site == NULL || site->patch.is_in_place)
        return false;
    if (hop != NULL)
        original = hop->patch.plan.patch_at;
    else if (!hook_site_find_original(site, &set.memory, pc, &original))
        return false;
    *original_out = original;
    return true;
}

bool hook_set_find_instruction(uint64_t address, uint64_t *original_out)
{
    const struct hook_site *hop = find_site(&set.hops, address);
    const struct hook_site *site;

    if (hop != NULL && hop->patch.is_in_place) {
        *original_out = hop->patch.plan.patch_at;
        return true;
    }
    site = find_site(&set.trampolines, address);
    if (site != NULL)
        (void)hook_site_find_original(site, NULL, address, original_out);
    return site != NULL;
}

bool hook_set_find_displaced(uint64_t address, uint64_t *copy_out)
{
    const struct hook_site *site = find_site(&set.originals, address);

    return site != NULL && site->patch.is_in_place && hook_site_find_copy(site, NULL, address, copy_out);
}

bool hook_set_is_before_instruction(uint64_t address)
{
    const struct hook_site *site = find_site(&set.trampolines, address);
    uint64_t original;

    return site == NULL || hook_site_find_original(site, NULL, address, &original);
}

/* What a stub begins with leads to its site; what is no stub, to anything. */
struct hook_stub_place hook_set_find_stub(uint64_t address)
{
    uint64_t start = (address & ~(uint64_t)(HOOK_STUB_ALIGNMENT - 1)) - STUB_FUNCTION, function, code;
    struct hook_stub_place place = {.start = start};
    struct near_piece piece;

    if (!near_memory_contains(&set.code, address) ||
        memory_probe_copy(start + STUB_FUNCTION, &function, sizeof(function)) != 0 ||
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
        (void)!forced_memory_write(&set.memory, place, &new_pc, sizeof(new_pc));
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
        stack_scan_init(&set.scan, &set.memory);
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
    const struct hook_site *hop = find_site(&set.hops, address);

    return near_memory_contains(&set.code, address) || (hop != NULL && hop->patch.is_in_place);
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
