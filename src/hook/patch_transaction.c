/* SPDX-License-Identifier: MIT */
/*
 * A commit has two halves. Before threads are stopped, all that can fail for reasons of memory has been done: the
 * places are listed, sorted and compared with what stands there. While they stand still, it is looked who is in the
 * displaced instructions, the bytes are written, and only then are threads moved; so a failure leaves nothing to undo
 * but bytes.
 *
 * Who stands where is asked of registers, and of the stacks for the sake of signal handlers: the pc that a handler
 * returns to is in its frame. Return addresses are never in displaced instructions, by the rules for plans.
 *
 * Neighbours: patch_places.c writes; process/threads_stop.c stops; near_memory.c learns what is still in use.
 */
#include "hook/patch_transaction.h"

#include "arch/thread_registers.h"
#include "base/memory_functions.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"
#include "process/forced_memory.h"
#include "process/near_memory.h"
#include "process/stack_scan.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/membarrier.h>

#define FIRST_CAPACITY 64u

void patch_transaction_init(struct patch_transaction *transaction)
{
    *transaction = (struct patch_transaction){0};
    patch_places_init(&transaction->places);
}

void patch_transaction_deinit(struct patch_transaction *transaction)
{
    memory_unmap(transaction->changes, transaction->capacity * sizeof(struct patch_change));
    patch_places_deinit(&transaction->places);
    patch_transaction_init(transaction);
}

/* ---- collecting changes ----------------------------------------------------------------------------------------- */

static int grow(struct patch_transaction *transaction)
{
    size_t capacity = transaction->capacity == 0 ? FIRST_CAPACITY : 2 * transaction->capacity;
    void *memory;
    int result = memory_map(capacity * sizeof(struct patch_change), &memory);

    if (result != 0)
        return result;
    if (transaction->count > 0)
        memcpy(memory, transaction->changes, transaction->count * sizeof(struct patch_change));
    memory_unmap(transaction->changes, transaction->capacity * sizeof(struct patch_change));
    transaction->changes = memory;
    transaction->capacity = capacity;
    return 0;
}

static int add(struct patch_transaction *transaction, const struct patch_change *change)
{
    int result = transaction->count < transaction->capacity ? 0 : grow(transaction);

    if (result == 0)
        transaction->changes[transaction->count++] = *change;
    return result;
}

static int add_redirect(struct patch_transaction *transaction, struct patch *patch, uint64_t target,
                        enum patch_change_kind kind)
{
    struct patch_change change = {.patch = patch, .kind = (uint8_t)kind};
    const struct engine *machine = engine_host();
    int result = machine == NULL ? -EOPNOTSUPP : machine->hook->make_redirect(&patch->plan, target, &change.redirect);

    return result != 0 ? result : add(transaction, &change);
}

int patch_transaction_install(struct patch_transaction *transaction, struct patch *patch, uint64_t target)
{
    if (patch->is_in_place)
        return -EINVAL;
    return add_redirect(transaction, patch, target, PATCH_INSTALL);
}

int patch_transaction_retarget(struct patch_transaction *transaction, struct patch *patch, uint64_t target)
{
    if (!patch->is_in_place)
        return -EINVAL;
    return add_redirect(transaction, patch, target, PATCH_RETARGET);
}

int patch_transaction_remove(struct patch_transaction *transaction, struct patch *patch)
{
    struct patch_change change = {.patch = patch, .kind = PATCH_REMOVE};

    return patch->is_in_place ? add(transaction, &change) : -EINVAL;
}

void patch_transaction_drop(struct patch_transaction *transaction, const struct patch *patch)
{
    for (size_t i = transaction->count; i-- > 0;)
        if (transaction->changes[i].patch == patch) {
            transaction->changes[i] = transaction->changes[--transaction->count];
            return;
        }
}

/* ---- places ----------------------------------------------------------------------------------------------------- */

static void add_place(struct patch_places *places, const struct patch_place *shape, const uint8_t *before,
                      const uint8_t *after)
{
    struct patch_place place = *shape;

    memcpy(place.before, before, place.size_bytes);
    memcpy(place.after, after, place.size_bytes);
    patch_places_add(places, &place);
}

static void add_places(struct patch_places *places, const struct patch_change *change, size_t number)
{
    const struct patch *patch = change->patch;
    struct patch_place place = {
        .address = patch->plan.patch_at, .size_bytes = patch->plan.patch_bytes, .change = (uint32_t)number};
    struct patch_place hop = {
        .address = patch->plan.hop_at, .size_bytes = patch->plan.hop_bytes, .change = (uint32_t)number, .is_hop = true};
    bool is_install = change->kind == PATCH_INSTALL, is_remove = change->kind == PATCH_REMOVE;

    add_place(places, &place, is_install ? patch->original : patch->redirect.bytes,
              is_remove ? patch->original : change->redirect.bytes);
    if (hop.size_bytes > 0)
        add_place(places, &hop, is_install ? patch->hop_original : patch->redirect.hop,
                  is_remove ? patch->hop_original : change->redirect.hop);
}

static int list_places(struct patch_transaction *transaction)
{
    int result = patch_places_reserve(&transaction->places, 2 * transaction->count);

    if (result != 0)
        return result;
    transaction->places.count = 0;
    for (size_t i = 0; i < transaction->count; i++)
        add_places(&transaction->places, &transaction->changes[i], i);
    return patch_places_sort(&transaction->places);
}

/* ---- where threads are ------------------------------------------------------------------------------------------ */

struct standstill {
    struct patch_transaction *transaction;
    const struct patch_environment *environment;
    bool is_reclaiming; /* somebody wants to know who is in trampolines and stubs */
    bool is_moving;     /* the bytes were written: threads are moved, not only looked at */
    bool is_self;       /* it is the calling thread's stack that is looked at */
    int result;
};

/* Instructions of [patch_at, displaced_end) but the first: their trampoline has them. */
static int find_in_trampoline(const struct standstill *standstill, const struct patch *patch, uint64_t pc,
                              uint64_t *copy_out)
{
    int result = patch_find_copy(patch, standstill->environment->memory, pc, copy_out);

    return result == -ENOENT ? -EBUSY : result;
}

/*
 * Where a thread has to go on that stands at `pc`. 1: there. With a removal, whoever is at the jump in the padding has
 * just left the function's entry; it goes back there.
 */
static int find_new_place(const struct standstill *standstill, uint64_t pc, uint64_t *new_out)
{
    const struct patch_place *place = patch_places_find(&standstill->transaction->places, pc);
    const struct patch_change *change;
    const struct hook_plan *plan;

    if (place == NULL)
        return 1;
    change = &standstill->transaction->changes[place->change];
    plan = &change->patch->plan;
    if (change->kind == PATCH_REMOVE && place->is_hop && pc < place->address + place->size_bytes) {
        *new_out = plan->patch_at;
        return 0;
    }
    if (change->kind != PATCH_INSTALL || place->is_hop || pc <= plan->patch_at || pc >= plan->displaced_end)
        return 1;
    return find_in_trampoline(standstill, change->patch, pc, new_out);
}

/*
 * The pc of a thread in a system call is behind the instruction, and the kernel may go back to it: what counts is where
 * that is, and the copy has the same distance. (A copy of a system call is the instruction itself.)
 */
static int find_for_registers(const struct standstill *standstill, const struct thread_registers *registers,
                              uint64_t *new_out)
{
    struct thread_registers restarted = *registers;
    uint64_t pc = thread_registers_pc(registers), distance;
    int result;

    thread_registers_take_restart(&restarted);
    distance = pc - thread_registers_pc(&restarted);
    result = find_new_place(standstill, pc - distance, new_out);
    if (result == 0)
        *new_out += distance;
    return result;
}

static void note_result(struct standstill *standstill, int result)
{
    if (result < 0 && standstill->result == 0)
        standstill->result = result;
}

static void note_busy(struct standstill *standstill, uint64_t address)
{
    if (standstill->is_reclaiming)
        near_memory_note_busy(standstill->environment->code, address);
}

/*
 * The calling thread was called by the program, so that it is in no stub but those whose calls are under way, which are
 * known otherwise; unless it is in a signal handler, which may have come anywhere. Words that look like it are old.
 */
static void found_word(void *context, uint64_t word)
{
    struct standstill *standstill = context;

    if (!standstill->is_self)
        note_busy(standstill, word);
}

static void found_interrupted(void *context, uint64_t place, uint64_t pc)
{
    struct standstill *standstill = context;
    uint64_t new_pc = pc;
    int result = find_new_place(standstill, pc, &new_pc);

    if (result == 0 && standstill->is_moving)
        result = forced_memory_write(standstill->environment->memory, place, &new_pc, sizeof(new_pc));
    note_result(standstill, result);
    note_busy(standstill, new_pc);
    if (standstill->is_self && standstill->is_reclaiming)
        near_memory_note_all_busy(standstill->environment->code);
}

static void visit_registers(struct standstill *standstill, struct stopped_thread *thread)
{
    uint64_t new_pc = thread_registers_pc(thread->registers);
    int result = find_for_registers(standstill, thread->registers, &new_pc);

    note_result(standstill, result);
    if (result == 0 && standstill->is_moving) {
        thread_registers_set_pc(thread->registers, new_pc);
        thread->is_changed = true;
    }
    note_busy(standstill, new_pc);
    /* Code of ours may be on its way back to a stub that it has in a register. */
    for (size_t i = 0; i < THREAD_REGISTERS_WORDS_MAX && standstill->is_reclaiming; i++)
        note_busy(standstill, thread->registers->words[i]);
}

static void visit_stacks(const struct standstill *standstill, const struct stack_scan *scan, int tid, uint64_t sp)
{
    const struct patch_environment *environment = standstill->environment;
    bool is_hidden = false;
    uint64_t other = environment->other_stack == NULL ? 0 : environment->other_stack(tid, sp, &is_hidden);

    stack_scan_run(scan, sp);
    if (other != 0)
        stack_scan_run(scan, other);
    if (environment->other_frames != NULL)
        environment->other_frames(tid, other != 0 ? other : sp, scan);
    if (is_hidden && standstill->is_reclaiming)
        near_memory_note_all_busy(environment->code);
}

static void visit_all(struct standstill *standstill, const struct stack_scan *scan, struct stopped_thread *threads,
                      size_t count)
{
    int self = (int)raw_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0);
    uint64_t own_stack = standstill->environment->own_stack;

    if (own_stack == 0)
        own_stack = (uintptr_t)__builtin_frame_address(0);
    for (size_t i = 0; i < count; i++) {
        visit_registers(standstill, &threads[i]);
        visit_stacks(standstill, scan, threads[i].tid, thread_registers_sp(threads[i].registers));
    }
    standstill->is_self = true;
    visit_stacks(standstill, scan, self, own_stack);
    standstill->is_self = false;
}

/* ---- the commit ------------------------------------------------------------------------------------------------- */

static bool is_synchronizing;

void patch_synchronization_prepare(void)
{
    is_synchronizing =
        raw_syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0, 0, 0, 0) == 0;
}

/* Who comes out of the kernel has fetched nothing before; this is for the rules of the CPU. */
static void synchronize(void)
{
    if (is_synchronizing)
        (void)raw_syscall(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0, 0, 0, 0);
}

static void begin_looking(struct standstill *standstill, struct stack_scan *scan)
{
    const struct patch_environment *environment = standstill->environment;

    stack_scan_init(scan, environment->memory);
    scan->context = standstill;
    scan->word = found_word;
    scan->interrupted = found_interrupted;
    if (environment->code != NULL)
        standstill->is_reclaiming = near_memory_begin_reclaim(environment->code, &scan->low, &scan->high);
    if (!standstill->is_reclaiming)
        scan->low = scan->high = 0;
}

/* The first look finds out whether everybody can be moved, the second moves them. */
static int look_and_change(struct standstill *standstill, const struct stack_scan *scan, struct stopped_thread *threads,
                           size_t count)
{
    const struct patch_environment *environment = standstill->environment;
    const struct patch_places *places = &standstill->transaction->places;

    visit_all(standstill, scan, threads, count);
    if (standstill->is_reclaiming && environment->is_needed != NULL)
        near_memory_ask_busy(environment->code, environment->is_needed);
    if (standstill->result == 0)
        standstill->result = patch_places_write(places, environment->memory);
    if (standstill->result != 0 || places->count == 0)
        return standstill->result;
    standstill->is_moving = true;
    visit_all(standstill, scan, threads, count);
    synchronize();
    return 0;
}

/* All threads stand still. */
static int change_code(void *context, struct stopped_thread *threads, size_t count)
{
    struct stack_scan scan;
    int result;

    begin_looking(context, &scan);
    result = look_and_change(context, &scan, threads, count);
    stack_scan_deinit(&scan);
    return result;
}

static void note_done(struct patch_transaction *transaction)
{
    for (size_t i = 0; i < transaction->count; i++) {
        struct patch_change *change = &transaction->changes[i];

        change->patch->is_in_place = change->kind != PATCH_REMOVE;
        change->patch->redirect = change->redirect;
    }
}

/* Neighbours are told of together. */
static void tell_changed(const struct patch_places *places, const struct patch_environment *environment)
{
    size_t last;

    for (size_t first = 0; first < places->count; first = last + 1) {
        for (last = first; last + 1 < places->count; last++)
            if (places->places[last + 1].address > places->places[last].address + memory_page_size())
                break;
        environment->changed(environment->changed_context, places->places[first].address,
                             places->places[last].address + places->places[last].size_bytes);
    }
}

int patch_transaction_commit(struct patch_transaction *transaction, const struct patch_environment *environment)
{
    struct standstill standstill = {.transaction = transaction, .environment = environment};
    int result = list_places(transaction);

    if (result == 0)
        result = patch_places_check(&transaction->places, environment->memory);
    if (result == 0 && environment->stop == NULL)
        result = threads_stop(change_code, &standstill);
    else if (result == 0)
        result = environment->stop(environment->stop_context, change_code, &standstill);
    /* Once the bytes are written, an error is about those who stopped threads, and changes nothing. */
    if (result != 0 && !standstill.is_moving)
        return result;
    note_done(transaction);
    if (environment->changed != NULL)
        tell_changed(&transaction->places, environment);
    transaction->count = 0;
    return 0;
}
