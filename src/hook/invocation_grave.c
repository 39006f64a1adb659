/* SPDX-License-Identifier: MIT */
/* Sets of a few places each, by slot, so that many calls in one place do not displace all others. Lock: `lock`. */
#include "hook/invocation_grave.h"

#include "process/owner_lock.h"

#include <stdatomic.h>
#include <stddef.h>

#define SETS            512u
#define PLACES          8u

#define LOCK_TIMEOUT_MS 10000u

struct grave {
    uint64_t slot;
    uint64_t return_address;
    uint64_t stub;
    uint64_t since;
    bool has_returned;
};

static struct owner_lock lock;
static struct grave graves[SETS][PLACES];
static uint64_t now;

static struct grave *set_of(uint64_t slot)
{
    return graves[(slot >> 3) * 0x9e3779b97f4a7c15ull >> 55];
}

_Static_assert(SETS == 1u << (64 - 55), "as set_of has it");

static struct grave *place_for(const struct grave *wanted)
{
    struct grave *set = set_of(wanted->slot), *oldest = set;

    for (unsigned i = 0; i < PLACES; i++) {
        if (set[i].slot == wanted->slot && set[i].stub == wanted->stub &&
            set[i].return_address == wanted->return_address)
            return &set[i];
        if (set[i].since < oldest->since)
            oldest = &set[i];
    }
    return oldest;
}

void invocation_grave_add(const struct invocation *invocation)
{
    struct grave grave = {
        .slot = atomic_load_explicit(&invocation->slot, memory_order_relaxed),
        .return_address = invocation->return_address,
        .stub = invocation->stub,
    };

    if (owner_lock_acquire(&lock, LOCK_TIMEOUT_MS) != 0)
        return;
    grave.since = ++now;
    *place_for(&grave) = grave;
    owner_lock_release(&lock);
}

void invocation_grave_add_all(const struct invocation_stack *stack)
{
    struct invocation_cursor cursor;
    const struct invocation *invocation;

    invocation_cursor_begin(&cursor, stack);
    while ((invocation = invocation_cursor_next(&cursor)) != NULL)
        invocation_grave_add(invocation);
}

bool invocation_grave_find(uint64_t slot, uint64_t stub, bool with_returned, uint64_t *return_address_out)
{
    struct grave *set = set_of(slot), *latest = NULL;

    if (owner_lock_acquire(&lock, LOCK_TIMEOUT_MS) != 0)
        return false;
    for (unsigned i = 0; i < PLACES; i++)
        if (set[i].slot == slot && set[i].stub == stub && (with_returned || !set[i].has_returned) &&
            (latest == NULL || set[i].since > latest->since))
            latest = &set[i];
    if (latest != NULL) {
        *return_address_out = latest->return_address;
        latest->has_returned = true;
    }
    owner_lock_release(&lock);
    return latest != NULL;
}
