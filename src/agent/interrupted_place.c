/* SPDX-License-Identifier: MIT */
/*
 * A gate is called by a stub, so the address in the stub that it returns to is on the stack, as the first or one of the
 * first words: that tells which function it is about. All that is read may be anything, and is read by the kernel.
 */
#include "agent/interrupted_place.h"

#include "agent/hook_set.h"
#include "hook/call_slot.h"
#include "hook/hook_stub.h"
#include "hook/hook_thread.h"
#include "process/memory_probe.h"

#include <stddef.h>

/* As far as the frame of a gate that goes the slow way, and of what it calls. */
#define WORDS_MAX 160

static struct {
    uint64_t start;
    uint64_t bytes;
} image;

void interrupted_place_begin(uint64_t image_start, uint64_t image_bytes)
{
    image.start = image_start;
    image.bytes = image_bytes;
}

/* Where a function returns to whose return address is, or was, in the slot. */
static bool find_return(const struct hook_thread *thread, uint64_t slot, uint64_t *address_out)
{
    const struct invocation *invocation = invocation_stack_find(&thread->invocations, slot, 0);

    if (invocation == NULL)
        return memory_probe_copy(slot, address_out, sizeof(*address_out)) == 0;
    *address_out = invocation->return_address;
    return true;
}

static bool find_behind(const struct hook_thread *thread, uint64_t slot, struct interrupted_place *found_out)
{
    found_out->sp = call_slot_left(slot);
    return find_return(thread, slot, &found_out->pc);
}

/* Within a stub: between the patched entry and the gate, the gate and the function, and so on. */
static bool find_in_stub(const struct hook_thread *thread, struct interrupted_place from,
                         struct interrupted_place *found_out)
{
    const struct hook_stub_place stub = hook_set_find_stub(from.pc);
    int64_t offset = (int64_t)(from.pc - stub.start);

    if (stub.function == NULL)
        return false;
    *found_out = (struct interrupted_place){stub.function->address, from.sp};
    if (offset < 0 || offset >= STUB_UNTRACKED || (stub.parts & HOOK_STUB_RETURNS) == 0)
        return true;
    if (offset < STUB_LANDING) {
        found_out->sp = call_slot_of_left(from.sp);
        return true;
    }
    return find_behind(thread, offset < STUB_LEAVING ? call_slot_of_left(from.sp) : from.sp, found_out);
}

/* Within a gate, or what it calls. */
static bool find_in_gate(const struct hook_thread *thread, uint64_t sp, struct interrupted_place *found_out)
{
    uint64_t words[WORDS_MAX];
    size_t count = memory_probe_copy_some(sp, words, sizeof(words)) / sizeof(words[0]);

    for (size_t i = 0; i < count; i++) {
        const struct hook_stub_place stub = hook_set_find_stub(words[i]);
        uint64_t slot = sp + (i + 1) * sizeof(words[0]);

        if (stub.function == NULL)
            continue;
        if (words[i] - stub.start == STUB_LEFT)
            return find_behind(thread, slot, found_out);
        if (words[i] != stub.start)
            continue;
        *found_out = (struct interrupted_place){stub.function->address, slot};
        return true;
    }
    return false;
}

bool interrupted_place_find(const struct hook_thread *thread, struct interrupted_place from,
                            struct interrupted_place *found_out)
{
    bool is_on_listeners_stack = from.sp - thread->stack_low <= thread->stack_top - thread->stack_low;

    *found_out = from;
    if (hook_set_find_instruction(from.pc, &found_out->pc))
        return true;
    if (hook_set_contains(from.pc))
        return find_in_stub(thread, from, found_out);
    if (from.pc - image.start >= image.bytes)
        return false;
    return find_in_gate(thread, is_on_listeners_stack ? thread->gate_sp : from.sp, found_out);
}

bool interrupted_place_is_exact(uint64_t pc)
{
    return pc - image.start >= image.bytes && hook_set_is_before_instruction(pc);
}
