/* SPDX-License-Identifier: MIT */
/*
 * The only place where trampolines and stubs are put into memory. A stub that does something else than what is wanted
 * is replaced by another; the old one goes back to the memory of code, which keeps it as long as threads need it. No
 * lock: the user has it.
 */
#include "hook/hook_site.h"

#include "base/address.h"
#include "base/code_writer.h"
#include "base/memory_functions.h"
#include "hook/system_call_stub.h"

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

void site_code_release(struct site_code *code)
{
    if (code != NULL)
        near_memory_release(&code->piece);
}

uint64_t hook_site_end(const struct hook_site *site)
{
    const struct hook_plan *plan = &site->patch.plan;
    uint64_t patch_end = plan->patch_at + plan->patch_bytes;

    return patch_end > plan->displaced_end ? patch_end : plan->displaced_end;
}

/* ---- what is displaced ------------------------------------------------------------------------------------------- */

static int prepare(struct hook_site *site, const struct site_purpose *purpose, const struct site_maker *maker,
                   uint8_t displaced_out[HOOK_DISPLACED_BYTES_MAX])
{
    const struct hook_plan *plan = purpose->plan;
    int result;

    *site = (struct hook_site){.is_probe = purpose->is_probe};
    result = patch_prepare(&site->patch, plan, maker->memory);
    if (result == 0)
        result = patch_read_displaced(&site->patch, maker->memory, displaced_out);
    if (result == 0 && purpose->expected != NULL &&
        memcmp(displaced_out, purpose->expected, plan->displaced_end - plan->patch_at) != 0)
        result = -ESTALE;
    return result;
}

int hook_site_init(struct hook_site *site, const struct site_purpose *purpose, const struct site_maker *maker)
{
    const struct hook_plan *plan = purpose->plan;
    uint8_t displaced[HOOK_DISPLACED_BYTES_MAX];
    struct near_chunk *chunk;
    struct site_code *code;
    int result = prepare(site, purpose, maker, displaced);

    if (result == 0)
        result = begin_code(site, maker, TRAMPOLINE_BYTES(plan->displaced_end - plan->patch_at), &code, &chunk);
    if (result != 0)
        return result;
    result = trampoline_write(&chunk->writer, plan, displaced, &site->patch.trampoline);
    result = finish_code(code, maker, chunk, result);
    if (result != 0)
        return result;
    site->trampoline = code;
    site->function =
        (struct hook_function){.address = plan->address, .trampoline = site->patch.trampoline.start, .owner = site};
    return 0;
}

/* For who looks up places, the stub stands for the trampoline. */
int hook_site_init_call(struct hook_site *site, const struct site_purpose *purpose, struct system_call_stub *call,
                        const struct site_maker *maker)
{
    uint8_t displaced[HOOK_DISPLACED_BYTES_MAX];
    struct near_chunk *chunk;
    struct site_code *code;
    int result = prepare(site, purpose, maker, displaced);

    if (result == 0)
        result = begin_code(site, maker, SYSTEM_CALL_STUB_BYTES_MAX, &code, &chunk);
    if (result != 0)
        return result;
    result = system_call_stub_write(&chunk->writer, purpose->plan, displaced, call);
    result = finish_code(code, maker, chunk, result);
    if (result != 0)
        return result;
    code->entry = call->entry;
    site->stub = code;
    site->call = call;
    site->patch.trampoline = (struct trampoline){call->start, call->end};
    return 0;
}

void hook_site_init_front(struct hook_site *site, uint64_t function)
{
    *site = (struct hook_site){
        .function = {.address = function, .trampoline = function, .owner = site},
        .patch = {.plan = {.address = function, .patch_at = function}, .trampoline = {.start = function}},
    };
}

bool hook_site_find_copy(const struct hook_site *site, const struct forced_memory *memory, uint64_t pc,
                         uint64_t *copy_out)
{
    if (site->call != NULL)
        return system_call_stub_find_copy(site->call, &site->patch.plan, pc, copy_out);
    return pc > site->patch.plan.patch_at && pc < site->patch.plan.displaced_end &&
           patch_find_copy(&site->patch, memory, pc, copy_out) == 0;
}

bool hook_site_find_original(const struct hook_site *site, const struct forced_memory *memory, uint64_t pc,
                             uint64_t *original_out)
{
    *original_out = site->patch.plan.patch_at;
    if (site->call != NULL)
        return system_call_stub_find_original(site->call, &site->patch.plan, pc, original_out);
    return patch_find_original(&site->patch, memory, pc, original_out);
}

/* ---- stubs ------------------------------------------------------------------------------------------------------- */

static bool must_find_return_address(const struct hook_listeners *listeners)
{
    for (uint32_t i = 0; listeners != NULL && i < listeners->count; i++)
        if (listeners->items[i].flags & HOOK_LISTENER_ENTRY_ONLY)
            return true;
    return false;
}

static unsigned parts_for(const struct hook_site *site, const struct site_wish *wish)
{
    unsigned parts = 0;

    if (site->is_probe)
        return HOOK_STUB_PROBE | HOOK_STUB_LISTEN;
    if (wish->listeners != NULL)
        parts |= HOOK_STUB_LISTEN;
    if (wish->is_recorded)
        parts |= HOOK_STUB_RECORD;
    if (wish->is_goroutine)
        return parts | HOOK_STUB_GOROUTINE | (wish->is_exit ? HOOK_STUB_EXIT : 0);
    if (wish->replacement != 0)
        parts |= HOOK_STUB_REPLACE | HOOK_STUB_RETURNS;
    else if (!site->patch.plan.is_entry_only && !must_find_return_address(wish->listeners))
        parts |= HOOK_STUB_RETURNS;
    return parts;
}

/* Where a stub in the chunk calls the target: a replacement may be out of reach, and is reached by a jump before it. */
static uint64_t place_in_reach(struct near_chunk *chunk, uint64_t target)
{
    struct cache_pc here = code_writer_pc(&chunk->writer);

    const struct engine_hook *machine = engine_host()->hook;

    if (machine->reaches(chunk->start, target) && machine->reaches(chunk->end, target))
        return target;
    machine->put_jump(&chunk->writer, target);
    return here.value;
}

static int write_stub(struct hook_site *site, unsigned parts, uint64_t target, const struct site_maker *maker,
                      struct site_code **code_out)
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
    }
    result = finish_code(code, maker, chunk, result);
    if (result == 0)
        *code_out = code;
    return result;
}

/* A stub without parts: for replacements in place that are out of reach. */
static int write_jump(struct hook_site *site, uint64_t target, const struct site_maker *maker,
                      struct site_code **code_out)
{
    struct near_chunk *chunk;
    struct site_code *code;
    int result = begin_code(site, maker, REDIRECT_BYTES_MAX, &code, &chunk);

    if (result != 0)
        return result;
    engine_host()->hook->put_jump(&chunk->writer, target);
    code->target = target;
    result = finish_code(code, maker, chunk, 0);
    if (result == 0)
        *code_out = code;
    return result;
}

static bool is_in_reach(const struct hook_site *site, uint64_t target)
{
    const struct hook_plan *plan = &site->patch.plan;
    uint64_t from = plan->hop_bytes > 0 ? plan->hop_at : plan->patch_at;
    const struct engine_hook *machine = engine_host()->hook;

    return plan->method != HOOK_TRAP && machine->reaches(from, target) &&
           machine->reaches(from + REDIRECT_BYTES_MAX, target);
}

static bool does_what_is_wanted(const struct site_code *stub, unsigned parts, uint64_t target)
{
    return stub != NULL && stub->parts == parts && stub->target == target;
}

int hook_site_lead(struct hook_site *site, const struct site_wish *wish, const struct site_maker *maker,
                   struct site_lead *lead_out)
{
    uint64_t target = wish->replacement != 0 ? wish->replacement : site->patch.trampoline.start;
    unsigned parts = wish->is_in_place ? 0 : parts_for(site, wish);
    struct site_code *stub = site->stub;
    int result = 0;

    /* All that can be wanted of system calls is in their stub. */
    if (site->call != NULL) {
        *lead_out = (struct site_lead){stub, stub->entry};
        return 0;
    }
    if (wish->is_in_place && is_in_reach(site, target)) {
        *lead_out = (struct site_lead){.target = target};
        return 0;
    }
    if (!does_what_is_wanted(stub, parts, target))
        result =
            wish->is_in_place ? write_jump(site, target, maker, &stub) : write_stub(site, parts, target, maker, &stub);
    if (result == 0)
        *lead_out = (struct site_lead){stub, stub->entry};
    return result;
}
