/* SPDX-License-Identifier: MIT */
/*
 * A site whose patch was taken away keeps its trampoline and its stub: who hooks the same again needs no new ones, and
 * whoever is in them is safe. A stub that does something else than what is wanted is replaced by another; the old one
 * goes back to the memory of code, which keeps it as long as threads need it.
 *
 * Invariant: between hook_site_build and settle or give_up, next_stub is what the patch will lead to; it is `stub`
 * itself where that fits. No lock: the table has it.
 */
#include "hook/hook_site.h"

#include "base/address.h"
#include "base/code_writer.h"
#include "hook/patch_transaction.h"
#include "hook/trap_table.h"
#include "process/forced_memory.h"

#include <asm/errno.h>

/* Takes the object for a new piece of code; it is written between this and finish_code. */
static int begin_code(struct hook_site *site, const struct site_maker *maker, size_t capacity,
                      struct site_code **code_out, struct near_chunk **chunk_out)
{
    struct site_code *code = pool_allocate(maker->codes);
    int result;

    if (code == NULL)
        return -ENOMEM;
    result = near_memory_begin(maker->code, site->patch.plan.patch_at, capacity, chunk_out);
    if (result != 0) {
        pool_free(maker->codes, code);
        return result;
    }
    *code = (struct site_code){.site = site, .entry = code_writer_pc(&(*chunk_out)->writer).value};
    *code_out = code;
    return 0;
}

static int finish_code(struct site_code *code, const struct site_maker *maker, struct near_chunk *chunk, int result)
{
    if (result == 0)
        result = near_memory_end(chunk, &code->piece);
    else
        near_memory_cancel(chunk);
    if (result == 0)
        code->site->code_count++;
    else
        pool_free(maker->codes, code);
    return result;
}

static int write_trampoline(struct hook_site *site, const struct site_maker *maker)
{
    uint8_t displaced[HOOK_DISPLACED_BYTES_MAX];
    const struct hook_plan *plan = &site->patch.plan;
    struct near_chunk *chunk;
    struct site_code *code;
    int result = patch_read_displaced(&site->patch, maker->memory, displaced);

    if (result == 0)
        result = begin_code(site, maker, TRAMPOLINE_BYTES(plan->displaced_end - plan->patch_at), &code, &chunk);
    if (result != 0)
        return result;
    result = trampoline_write(&chunk->writer, plan, displaced, &site->patch.trampoline);
    result = finish_code(code, maker, chunk, result);
    if (result == 0)
        site->trampoline = code;
    return result;
}

int hook_site_init(struct hook_site *site, const struct hook_plan *plan, bool is_probe, const struct site_maker *maker)
{
    int result;

    *site = (struct hook_site){.is_probe = is_probe};
    list_init(&site->attachments);
    list_init(&site->node);
    list_init(&site->dirty);
    result = patch_prepare(&site->patch, plan, maker->memory);
    if (result == 0)
        result = write_trampoline(site, maker);
    if (result != 0)
        return result;
    site->function.address = plan->address;
    site->function.trampoline = site->patch.trampoline.start;
    site->function.owner = site;
    return 0;
}

/* ---- stubs ------------------------------------------------------------------------------------------------------- */

static bool must_find_return_address(const struct hook_listeners *listeners)
{
    for (uint32_t i = 0; listeners != NULL && i < listeners->count; i++)
        if (listeners->items[i].flags & HOOK_LISTENER_ENTRY_ONLY)
            return true;
    return false;
}

static unsigned wanted_parts(const struct hook_site *site)
{
    const struct site_wish *wish = &site->wanted;
    unsigned parts = 0;

    if (site->is_probe)
        return HOOK_STUB_PROBE | HOOK_STUB_LISTEN;
    if (wish->listeners != NULL)
        parts |= HOOK_STUB_LISTEN;
    if (wish->is_recorded)
        parts |= HOOK_STUB_RECORD;
    if (wish->replacement != 0)
        parts |= HOOK_STUB_REPLACE | HOOK_STUB_RETURNS;
    else if (!site->patch.plan.is_entry_only && !must_find_return_address(wish->listeners))
        parts |= HOOK_STUB_RETURNS;
    return parts;
}

static uint64_t wanted_target(const struct hook_site *site)
{
    return site->wanted.replacement != 0 ? site->wanted.replacement : site->patch.trampoline.start;
}

static bool does_what_is_wanted(const struct site_code *stub, unsigned parts, uint64_t target, uint32_t record_number)
{
    return stub != NULL && stub->parts == parts && stub->target == target && stub->record_number == record_number;
}

/* Where a stub in the chunk calls the target: a replacement may be out of reach, and is reached by a jump before it. */
static uint64_t place_in_reach(struct near_chunk *chunk, uint64_t target)
{
    struct cache_pc here = code_writer_pc(&chunk->writer);

    if (address_fits_rel32(chunk->start, target) && address_fits_rel32(chunk->end, target))
        return target;
    hook_redirector_host()->jump(&chunk->writer, target);
    return here.value;
}

static int write_stub(struct hook_site *site, unsigned parts, uint64_t target, const struct site_maker *maker)
{
    struct hook_stub_request request = {&site->function, target, parts};
    struct near_chunk *chunk;
    struct site_code *code;
    struct hook_stub stub;
    int result = begin_code(site, maker, REDIRECT_BYTES_MAX + HOOK_STUB_BYTES_MAX, &code, &chunk);

    if (result != 0)
        return result;
    request.target = place_in_reach(chunk, target);
    result = hook_stub_write(&chunk->writer, &request, &stub);
    if (result == 0) {
        code->entry = stub.entry.value;
        code->target = target;
        code->parts = parts;
        code->record_number = site->wanted.record_number;
    }
    result = finish_code(code, maker, chunk, result);
    if (result == 0)
        site->next_stub = code;
    return result;
}

/* A stub without parts: for replacements in place that are out of reach. */
static int write_jump(struct hook_site *site, uint64_t target, const struct site_maker *maker)
{
    struct near_chunk *chunk;
    struct site_code *code;
    int result = begin_code(site, maker, REDIRECT_BYTES_MAX, &code, &chunk);

    if (result != 0)
        return result;
    hook_redirector_host()->jump(&chunk->writer, target);
    code->target = target;
    result = finish_code(code, maker, chunk, 0);
    if (result == 0)
        site->next_stub = code;
    return result;
}

static bool is_in_reach(const struct hook_site *site, uint64_t target)
{
    const struct hook_plan *plan = &site->patch.plan;
    uint64_t from = plan->hop_bytes > 0 ? plan->hop_at : plan->patch_at;

    return plan->method != HOOK_TRAP && address_fits_rel32(from, target) &&
           address_fits_rel32(from + REDIRECT_BYTES_MAX, target);
}

static int make_stub(struct hook_site *site, const struct site_maker *maker)
{
    uint64_t target = wanted_target(site);
    bool is_jump = site->wanted.is_in_place;
    unsigned parts = is_jump ? 0 : wanted_parts(site);

    site->function.record_number = site->wanted.is_recorded ? site->wanted.record_number : 0;
    if (is_jump && is_in_reach(site, target)) {
        site->next_target = target;
        return 0;
    }
    if (does_what_is_wanted(site->stub, parts, target, site->wanted.record_number)) {
        site->next_stub = site->stub;
        site->next_target = site->stub->entry;
        return 0;
    }
    int result = is_jump ? write_jump(site, target, maker) : write_stub(site, parts, target, maker);
    if (result == 0)
        site->next_target = site->next_stub->entry;
    return result;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static int add_change(struct hook_site *site, struct patch_transaction *transaction)
{
    if (!site->patch.is_in_place)
        return patch_transaction_install(transaction, &site->patch, site->next_target);
    if (site->next_stub == site->stub && site->stub != NULL)
        return 0;
    return patch_transaction_retarget(transaction, &site->patch, site->next_target);
}

static int add_trap(const struct hook_site *site)
{
    if (site->patch.plan.method != HOOK_TRAP)
        return 0;
    return trap_table_set(site->patch.plan.patch_at, site->next_target);
}

/* Code that is gone, as that of a library that was unloaded, or that somebody else has changed, is not brought back. */
static bool is_still_there(const struct hook_site *site, const struct forced_memory *memory)
{
    uint8_t bytes[REDIRECT_BYTES_MAX];
    uint32_t size = site->patch.plan.patch_bytes;

    return forced_memory_read(memory, site->patch.plan.patch_at, bytes, size) == size &&
           __builtin_memcmp(bytes, site->patch.redirect.bytes, size) == 0;
}

static int take_away(struct hook_site *site, struct patch_transaction *transaction, const struct site_maker *maker)
{
    site->next_stub = site->stub;
    if (site->patch.is_in_place && !is_still_there(site, maker->memory))
        site->patch.is_in_place = false;
    return site->patch.is_in_place ? patch_transaction_remove(transaction, &site->patch) : 0;
}

int hook_site_build(struct hook_site *site, struct patch_transaction *transaction, const struct site_maker *maker)
{
    int result;

    site->next_stub = NULL;
    if (site_wish_is_empty(&site->wanted))
        return take_away(site, transaction, maker);
    result = make_stub(site, maker);
    if (result == 0)
        result = add_change(site, transaction);
    return result != 0 ? result : add_trap(site);
}

static void release_code(struct site_code *code)
{
    if (code != NULL)
        near_memory_release(&code->piece);
}

void hook_site_settle(struct hook_site *site)
{
    if (site->next_stub != site->stub)
        release_code(site->stub);
    site->stub = site->next_stub;
    site->next_stub = NULL;
    if (!site->patch.is_in_place && site->patch.plan.method == HOOK_TRAP)
        trap_table_clear(site->patch.plan.patch_at);
}

/* A trap leads where it led. */
void hook_site_give_up(struct hook_site *site)
{
    if (site->next_stub != site->stub)
        release_code(site->next_stub);
    site->next_stub = NULL;
    if (site->patch.plan.method != HOOK_TRAP)
        return;
    if (site->patch.is_in_place && site->stub != NULL)
        (void)!trap_table_set(site->patch.plan.patch_at, site->stub->entry);
    else
        trap_table_clear(site->patch.plan.patch_at);
}

void hook_site_release(struct hook_site *site)
{
    release_code(site->stub);
    site->stub = NULL;
    if (!site->is_exposed) {
        release_code(site->trampoline);
        site->trampoline = NULL;
    }
}
