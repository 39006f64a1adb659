/* SPDX-License-Identifier: MIT */
/*
 * Changing the program's code while it runs: many patches put in place and taken away in one go. All threads are
 * stopped meanwhile; one that stands in the middle of instructions that are displaced goes on in their trampoline, also
 * if that is only where a signal handler will return to. Either all changes are made or none.
 *
 * A transaction is the caller's; one at a time in a process. No libc; usable inside the target.
 */
#ifndef GAIT_HOOK_PATCH_TRANSACTION_H
#define GAIT_HOOK_PATCH_TRANSACTION_H

#include "base/attributes.h"
#include "hook/patch.h"
#include "hook/patch_places.h"
#include "process/threads_stop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct forced_memory;
struct near_memory;
struct stack_scan;

enum patch_change_kind {
    PATCH_INSTALL,
    PATCH_RETARGET,
    PATCH_REMOVE,
};

struct patch_change {
    struct patch *patch;
    struct redirect redirect; /* of INSTALL and RETARGET */
    uint8_t kind;             /* enum patch_change_kind */
};

struct patch_transaction {
    struct patch_change *changes;
    size_t count;
    size_t capacity;
    struct patch_places places; /* filled when it is committed */
};

/* What a transaction needs to know of the process around it. */
struct patch_environment {
    const struct forced_memory *memory;

    /* Who stops threads; NULL: process/threads_stop.h. */
    threads_source stop;
    void *stop_context;

    /* The memory of trampolines and stubs; what nobody uses any more is found on the way. NULL: nothing is looked for.
     */
    struct near_memory *code;
    /* Whether calls under way will return into a chunk of it; may be NULL. */
    bool (*is_needed)(uint64_t start, uint64_t end);

    /* Where the calling thread's stack is looked at from: before it are frames of ours. 0: from here on. */
    uint64_t own_stack;

    /*
     * Where a thread's stack is that its stack pointer is not on; 0: it has no other. *is_hidden_out: something between
     * the two is not on either, so that nobody knows which code it will come back to. May be NULL.
     */
    uint64_t (*other_stack)(int tid, uint64_t sp, bool *is_hidden_out);

    /* Shows frames of signal handlers of a thread that cannot be known by what is on its stacks; may be NULL. */
    void (*other_frames)(int tid, uint64_t sp, const struct stack_scan *scan);

    /* Told of each range of code that has changed, when threads run again; may be NULL. */
    void (*changed)(void *context, uint64_t start, uint64_t end);
    void *changed_context;
};

void patch_transaction_init(struct patch_transaction *transaction);

/* Forgets all changes that were not committed. */
void patch_transaction_deinit(struct patch_transaction *transaction);

/*
 * Adds a change: a patch that is not in place is put there and leads to target; one that is leads to another target, or
 * is taken away. The code at the target is there by the time of the commit, and the patch has its trampoline. A patch
 * is in a transaction once at most. -ENOMEM; -ERANGE: the target is out of reach; -EINVAL: of its state.
 */
MUST_USE int patch_transaction_install(struct patch_transaction *transaction, struct patch *patch, uint64_t target);
MUST_USE int patch_transaction_retarget(struct patch_transaction *transaction, struct patch *patch, uint64_t target);
MUST_USE int patch_transaction_remove(struct patch_transaction *transaction, struct patch *patch);

/* Forgets the change of a patch that was added and not committed; the last ones are found quickest. */
void patch_transaction_drop(struct patch_transaction *transaction, const struct patch *patch);

/*
 * Makes all changes. The transaction is empty then; on failure it is as before, and so is the program:
 * -ESTALE: something else than expected stands at one of the places; -EFAULT: a place is not mapped, or nobody may
 * write there; -EEXIST: two patches overlap; -EBUSY: a thread stands in the middle of bytes that are overwritten, where
 * no instruction begins; -ENOMEM; and what threads_stop gives.
 */
MUST_USE int patch_transaction_commit(struct patch_transaction *transaction,
                                      const struct patch_environment *environment);

/* Has all threads go on at a serializing instruction after code was changed; to be called once before. */
void patch_synchronization_prepare(void);

#endif
