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
#include "hook/hook_stub.h"
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
    struct patch patch;
    struct hook_function function;
    struct hook_stub stub;
    struct near_piece trampoline_piece;
    struct near_piece stub_piece;
    struct hook_listeners *listeners;
    bool is_last;                 /* to be removed */
    bool is_call;                 /* no function, but a place where system calls are made: */
    struct system_call_stub call; /* what it leads to; there is no trampoline */
};

static struct hook_set {
    struct forced_memory memory;
    struct near_memory code;
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

void hook_set_begin(void)
{
    near_memory_init(&set.code, CODE_VIEW_AUTO, CHUNK_BYTES);
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
    slab_deinit(&set.storage);
    set = (struct hook_set){.memory = {.fd = -1}};
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

static int write_trampoline(struct hooked *hooked, const struct hook_wish *wish)
{
    uint8_t displaced[HOOK_DISPLACED_BYTES_MAX];
    struct near_chunk *chunk;
    int result = patch_read_displaced(&hooked->patch, &set.memory, displaced);

    if (result == 0 && memcmp(displaced, wish->expected, wish->plan->displaced_end - wish->plan->patch_at) != 0)
        result = -ESTALE;
    if (result == 0)
        result = near_memory_begin(&set.code, wish->plan->patch_at, TRAMPOLINE_BYTES_MAX, &chunk);
    if (result != 0)
        return result;
    result = trampoline_write(&chunk->writer, wish->plan, displaced, &hooked->patch.trampoline);
    if (result == 0)
        return near_memory_end(chunk, &hooked->trampoline_piece);
    near_memory_cancel(chunk);
    return result;
}

static int make_listeners(struct hooked *hooked, const struct hook_wish *wish)
{
    size_t items_bytes = wish->listener_count * sizeof(struct hook_listener);

    if (wish->listener_count == 0)
        return 0;
    hooked->listeners =
        slab_allocate_zeroed(&set.storage, sizeof(*hooked->listeners) + items_bytes, _Alignof(struct hook_listeners));
    if (hooked->listeners == NULL)
        return -ENOMEM;
    *hooked->listeners = (struct hook_listeners){.count = wish->listener_count,
                                                 .places = wish->listener_count,
                                                 .last_serial = wish->listener_count,
                                                 .is_general_only = 1};
    for (uint32_t i = 0; i < wish->listener_count; i++) {
        hooked->listeners->items[i] = wish->listeners[i];
        hooked->listeners->items[i].place = i;
        hooked->listeners->items[i].serial = i + 1;
    }
    return 0;
}

static unsigned parts_of(const struct hooked *hooked, const struct hook_wish *wish)
{
    bool sees_return = !wish->plan->is_entry_only && !wish->leaves_returns;

    if (wish->is_probe)
        return HOOK_STUB_PROBE | HOOK_STUB_LISTEN;
    return (wish->is_recorded ? HOOK_STUB_RECORD : 0) | (hooked->listeners != NULL ? HOOK_STUB_LISTEN : 0) |
           (sees_return ? HOOK_STUB_RETURNS : 0);
}

static int write_stub(struct hooked *hooked, const struct hook_wish *wish)
{
    struct hook_stub_request request = {
        .function = &hooked->function,
        .target = hooked->patch.trampoline.start,
        .parts = parts_of(hooked, wish),
    };
    struct near_chunk *chunk;
    int result = near_memory_begin(&set.code, wish->plan->patch_at, HOOK_STUB_BYTES_MAX, &chunk);

    if (result != 0)
        return result;
    result = hook_stub_write(&chunk->writer, &request, &hooked->stub);
    if (result == 0)
        return near_memory_end(chunk, &hooked->stub_piece);
    near_memory_cancel(chunk);
    return result;
}

static uint64_t original_end(const struct hook_plan *plan)
{
    uint64_t patch_end = plan->patch_at + plan->patch_bytes;

    return plan->displaced_end > patch_end ? plan->displaced_end : patch_end;
}

static int note_places(struct hooked *hooked)
{
    const struct hook_plan *plan = &hooked->patch.plan;
    uintptr_t value = (uintptr_t)hooked;
    int result = interval_map_insert(&set.originals, plan->patch_at, original_end(plan), value);

    if (result != 0)
        return result;
    result = interval_map_insert(&set.trampolines, hooked->patch.trampoline.start, hooked->patch.trampoline.end, value);
    if (result == 0 && plan->hop_bytes != 0)
        result = interval_map_insert(&set.hops, plan->hop_at, plan->hop_at + plan->hop_bytes, value);
    if (result != 0)
        (void)!interval_map_remove(&set.originals, plan->patch_at, original_end(plan));
    return result;
}

int hook_set_add(const struct hook_wish *wish)
{
    struct hooked *hooked = slab_allocate_zeroed(&set.storage, sizeof(*hooked), _Alignof(struct hooked));
    int result = hooked == NULL ? -ENOMEM : patch_prepare(&hooked->patch, wish->plan, &set.memory);

    /* A trap would need a signal handler, which is the program's. */
    if (result == 0 && wish->plan->method == HOOK_TRAP)
        result = -EOPNOTSUPP;
    if (result == 0)
        result = write_trampoline(hooked, wish);
    if (result == 0)
        result = make_listeners(hooked, wish);
    if (result != 0)
        return result;
    hooked->function = (struct hook_function){
        .address = wish->plan->address,
        .trampoline = hooked->patch.trampoline.start,
        .listeners = hooked->listeners,
        .record_number = wish->number,
    };
    hooked->is_last = wish->leaves_returns || wish->is_last;
    result = write_stub(hooked, wish);
    if (result == 0)
        result = note_places(hooked);
    return result != 0 ? result : patch_transaction_install(&set.transaction, &hooked->patch, hooked->stub.entry.value);
}

static int write_call_stub(struct hooked *hooked, const struct hook_plan *plan, const uint8_t *expected)
{
    uint8_t displaced[HOOK_DISPLACED_BYTES_MAX];
    struct near_chunk *chunk;
    int result = patch_read_displaced(&hooked->patch, &set.memory, displaced);

    if (result == 0 && memcmp(displaced, expected, plan->displaced_end - plan->patch_at) != 0)
        result = -ESTALE;
    if (result == 0)
        result = near_memory_begin(&set.code, plan->patch_at, SYSTEM_CALL_STUB_BYTES_MAX, &chunk);
    if (result != 0)
        return result;
    result = system_call_stub_write(&chunk->writer, plan, displaced, &hooked->call);
    if (result == 0)
        return near_memory_end(chunk, &hooked->stub_piece);
    near_memory_cancel(chunk);
    return result;
}

/* For who looks up places, its stub stands for the trampoline. */
int hook_set_add_system_call(const struct hook_plan *plan, const uint8_t *expected)
{
    struct hooked *hooked = slab_allocate_zeroed(&set.storage, sizeof(*hooked), _Alignof(struct hooked));
    int result = hooked == NULL ? -ENOMEM : patch_prepare(&hooked->patch, plan, &set.memory);

    if (result == 0)
        result = write_call_stub(hooked, plan, expected);
    if (result != 0)
        return result;
    hooked->is_call = true;
    hooked->patch.trampoline = (struct trampoline){hooked->call.start, hooked->call.end};
    result = note_places(hooked);
    return result != 0 ? result : patch_transaction_install(&set.transaction, &hooked->patch, hooked->call.entry);
}

int hook_set_make_front(uint64_t function, const struct hook_listener *listener, uint64_t *entry_out)
{
    struct hooked *hooked = slab_allocate_zeroed(&set.storage, sizeof(*hooked), _Alignof(struct hooked));
    const struct hook_plan plan = {.address = function, .patch_at = function};
    const struct hook_wish wish = {.plan = &plan, .listeners = {*listener}, .listener_count = 1};
    int result = hooked == NULL ? -ENOMEM : make_listeners(hooked, &wish);

    if (result != 0)
        return result;
    hooked->function =
        (struct hook_function){.address = function, .trampoline = function, .listeners = hooked->listeners};
    hooked->patch.trampoline.start = function;
    result = write_stub(hooked, &wish);
    if (result == 0)
        result = near_memory_commit(&set.code);
    if (result == 0)
        *entry_out = hooked->stub.entry.value;
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

        if (hooked->patch.is_in_place)
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

        if (hooked->patch.is_in_place && (with_last_ones || !hooked->is_last))
            result = patch_transaction_remove(&set.transaction, &hooked->patch);
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

        if (hooked->patch.plan.patch_at >= end)
            break;
        hooked->patch.is_in_place = false;
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

/* Where the copy of an instruction is that is, or will be, displaced. False: it is none, or the first. */
static bool find_copy(uint64_t pc, uint64_t *copy_out)
{
    uint8_t displaced[HOOK_DISPLACED_BYTES_MAX];
    const struct hooked *hooked;
    struct interval found;

    if (!interval_map_find(&set.originals, pc, &found))
        return false;
    hooked = hooked_at(&found);
    if (hooked->is_call)
        return system_call_stub_find_copy(&hooked->call, &hooked->patch.plan, pc, copy_out);
    return pc > hooked->patch.plan.patch_at && pc < hooked->patch.plan.displaced_end &&
           patch_read_displaced(&hooked->patch, &set.memory, displaced) == 0 &&
           trampoline_find_copy(hooked->patch.trampoline.start, &hooked->patch.plan, displaced, pc, copy_out) == 0;
}

/* The instruction whose copy begins at an address. False: none does, so the thread is in the middle of one. */
static bool find_of_copy(const struct hooked *hooked, uint64_t pc, uint64_t *original_out)
{
    const struct hook_plan *plan = &hooked->patch.plan;
    uint8_t displaced[HOOK_DISPLACED_BYTES_MAX];
    uint64_t copy;

    if (patch_read_displaced(&hooked->patch, &set.memory, displaced) != 0)
        return false;
    for (uint64_t at = plan->patch_at; at < plan->displaced_end; at++) {
        if (trampoline_find_copy(hooked->patch.trampoline.start, plan, displaced, at, &copy) == 0 && copy == pc) {
            *original_out = at;
            return true;
        }
    }
    return false;
}

/*
 * Where the program's own code goes on, for a thread in a trampoline, or at a jump in padding that was there a moment
 * ago. Nowhere, as long as the function is patched: its instructions are not there.
 */
static bool find_original(uint64_t pc, uint64_t *original_out)
{
    struct interval found;
    const struct hooked *hooked;
    bool is_hop = interval_map_find(&set.hops, pc, &found);

    if (!is_hop && !interval_map_find(&set.trampolines, pc, &found))
        return false;
    hooked = hooked_at(&found);
    if (hooked->patch.is_in_place)
        return false;
    if (!is_hop && hooked->is_call)
        return system_call_stub_find_original(&hooked->call, &hooked->patch.plan, pc, original_out);
    if (!is_hop)
        return find_of_copy(hooked, pc, original_out);
    *original_out = hooked->patch.plan.patch_at;
    return true;
}

/* As it would be read if it were not patched; without a descriptor. */
static bool peek_displaced(const struct hooked *hooked, uint8_t displaced_out[HOOK_DISPLACED_BYTES_MAX])
{
    const struct patch *patch = &hooked->patch;
    size_t size = (size_t)(patch->plan.displaced_end - patch->plan.patch_at);

    if (memory_probe_copy(patch->plan.patch_at, displaced_out, size) != 0)
        return false;
    memcpy(displaced_out, patch->original, size < patch->plan.patch_bytes ? size : patch->plan.patch_bytes);
    return true;
}

/* The last instruction whose copy begins there or before. */
static bool find_copied(const struct hooked *hooked, uint64_t pc, uint64_t *original_out, uint64_t *copy_out)
{
    const struct hook_plan *plan = &hooked->patch.plan;
    uint8_t displaced[HOOK_DISPLACED_BYTES_MAX];
    uint64_t copy, best = 0;

    if (!peek_displaced(hooked, displaced))
        return false;
    for (uint64_t at = plan->patch_at; at < plan->displaced_end; at++)
        if (trampoline_find_copy(hooked->patch.trampoline.start, plan, displaced, at, &copy) == 0 && copy <= pc &&
            copy >= best) {
            *original_out = at;
            best = copy;
        }
    *copy_out = best;
    return best != 0;
}

bool hook_set_find_instruction(uint64_t address, uint64_t *original_out)
{
    struct interval found;
    const struct hooked *hooked;
    uint64_t copy;
    bool is_hop = interval_map_find(&set.hops, address, &found) && hooked_at(&found)->patch.is_in_place;

    if (!is_hop && !interval_map_find(&set.trampolines, address, &found))
        return false;
    hooked = hooked_at(&found);
    if (!is_hop && !hooked->is_call)
        return find_copied(hooked, address, original_out, &copy);
    if (is_hop || !system_call_stub_find_original(&hooked->call, &hooked->patch.plan, address, original_out))
        *original_out = hooked->patch.plan.patch_at;
    return true;
}

bool hook_set_find_displaced(uint64_t address, uint64_t *copy_out)
{
    uint8_t displaced[HOOK_DISPLACED_BYTES_MAX];
    const struct hooked *hooked;
    struct interval found;

    if (!interval_map_find(&set.originals, address, &found))
        return false;
    hooked = hooked_at(&found);
    if (!hooked->patch.is_in_place)
        return false;
    if (hooked->is_call)
        return system_call_stub_find_copy(&hooked->call, &hooked->patch.plan, address, copy_out);
    return address > hooked->patch.plan.patch_at && address < hooked->patch.plan.displaced_end &&
           peek_displaced(hooked, displaced) &&
           trampoline_find_copy(hooked->patch.trampoline.start, &hooked->patch.plan, displaced, address, copy_out) == 0;
}

bool hook_set_is_before_instruction(uint64_t address)
{
    struct interval found;
    const struct hooked *hooked;
    uint64_t original, copy;

    if (!interval_map_find(&set.trampolines, address, &found))
        return true;
    hooked = hooked_at(&found);
    if (hooked->is_call)
        return system_call_stub_find_original(&hooked->call, &hooked->patch.plan, address, &original);
    return find_copied(hooked, address, &original, &copy) && copy == address;
}

/* What a stub begins with leads to what we know of it; what is no stub, to anything. */
struct hook_stub_place hook_set_find_stub(uint64_t address)
{
    uint64_t start = (address & ~(uint64_t)(HOOK_STUB_ALIGNMENT - 1)) - STUB_FUNCTION, function;
    struct hook_stub_place place = {.start = start};
    struct near_piece piece;

    if (!near_memory_contains(&set.code, address) ||
        memory_probe_copy(start + STUB_FUNCTION, &function, sizeof(function)) != 0 ||
        memory_probe_copy(function - offsetof(struct hooked, function) + offsetof(struct hooked, stub_piece), &piece,
                          sizeof(piece)) != 0 ||
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
    struct interval found;

    return near_memory_contains(&set.code, address) ||
           (interval_map_find(&set.hops, address, &found) && hooked_at(&found)->patch.is_in_place);
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
