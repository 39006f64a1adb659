/* SPDX-License-Identifier: MIT */
/*
 * The word is 0 or the owner's tid, with a bit for "a thread waits". Invariant: only a thread that stored its own tid
 * owns the lock, and only the owner stores 0. A waiter who was woken cannot know whether others wait too, so it takes
 * the lock with the bit set; that costs at most a wake-up too many.
 */
#include "process/owner_lock.h"

#include "base/assert.h"
#include "process/futex.h"
#include "process/thread_list.h"

#include <asm/errno.h>
#include <stdatomic.h>

#define CONTENDED     0x80000000u
#define LOOK_AGAIN_MS 50u

/* Acquire: pairs with the release in owner_lock_release. */
static bool change_word(struct owner_lock *lock, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(&lock->word, &from, to, memory_order_acquire, memory_order_relaxed);
}

/* Sleeps while the word stays the same. Returns whether that was so for as long as a waiter has patience. */
static bool wait_for_owner(struct owner_lock *lock, uint32_t word)
{
    struct futex_deadline soon = futex_deadline_after(LOOK_AGAIN_MS);

    return futex_wait(&lock->word, word, &soon) == -ETIMEDOUT;
}

int owner_lock_acquire(struct owner_lock *lock, unsigned timeout_ms)
{
    uint32_t self = (uint32_t)thread_current();
    struct futex_deadline deadline;
    bool in_doubt = false;

    if (change_word(lock, 0, self))
        return 0;
    deadline = futex_deadline_after(timeout_ms);
    do {
        uint32_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);
        uint32_t owner = word & ~CONTENDED;

        if (owner == self)
            return -EDEADLK;
        if (owner == 0 || (in_doubt && !thread_exists((int)owner))) {
            if (change_word(lock, word, self | CONTENDED))
                return 0;
            continue;
        }
        if ((word & CONTENDED) == 0 && !change_word(lock, word, word | CONTENDED))
            continue;
        in_doubt = wait_for_owner(lock, owner | CONTENDED);
    } while (!futex_deadline_passed(&deadline));
    return -ETIMEDOUT;
}

void owner_lock_release(struct owner_lock *lock)
{
    /* Release: pairs with the acquire in change_word. */
    uint32_t word = atomic_exchange_explicit(&lock->word, 0, memory_order_release);

    ASSERT((word & ~CONTENDED) == (uint32_t)thread_current(), "a lock is released by its owner");
    if ((word & CONTENDED) != 0)
        futex_wake(&lock->word, 1);
}
