/* SPDX-License-Identifier: MIT */
/*
 * The hooks of a process, by address: who listens to which function, what replaces it. Changes are collected in a
 * transaction and made all at once when it is committed, or not at all; a call outside of one is a transaction by
 * itself.
 *
 * A hooked address is a site: its patch leads to a stub that does what is wanted there, and a trampoline has what the
 * patch displaced. When nothing is wanted any more, the patch is taken away; stub and trampoline stay until nobody is
 * in them or will come back to them.
 *
 * Any thread, also from listeners; not in signal handlers. No libc; usable inside the target.
 */
#ifndef GAIT_HOOK_HOOK_TABLE_H
#define GAIT_HOOK_HOOK_TABLE_H

#include "base/attributes.h"
#include "base/code_view.h"
#include "hook/hook_plan.h"
#include "hook/hook_stub.h"
#include "process/threads_stop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_function;
struct forced_memory;
struct hook_attachment;
struct hook_site;
struct hook_table;

struct hook_table_options {
    enum code_view_mode code_mode;

    /* Of code that is taken at a time; 0: as process/near_memory.h has it. */
    size_t code_chunk_bytes;

    /*
     * Its user holds all threads that may be in code that changes, and sees to it that there is one call at a time: so
     * nothing is locked, and nobody stopped. What is hooked once keeps its bytes and its code until the table goes,
     * since threads may be anywhere.
     */
    bool is_held;

    /* Who stops threads; NULL: process/threads_stop.h. */
    threads_source stop;
    void *stop_context;

    /* Told of code that has changed, when threads run again; may be NULL. */
    void (*changed)(void *context, uint64_t start, uint64_t end);
    /* Whether code of stubs that nobody seems to be in may be given back; NULL: yes. */
    bool (*may_reclaim)(void *context);
    void *context;

    /* Code that is ours and is not to be hooked: a module's, or none. */
    uint64_t own_start;
    uint64_t own_end;
};

/* -EOPNOTSUPP: not on this CPU yet; -ENOMEM; what /proc gives. One in a process. */
MUST_USE int hook_table_create(const struct hook_table_options *options, struct hook_table **table_out);

/*
 * Takes all hooks away. Memory in which threads still are, or will return to, is left to them for good. Errors as
 * hook_table_commit; then everything stays. One that is held goes with all of its code; nothing is in place.
 */
MUST_USE int hook_table_destroy(struct hook_table *table);

/*
 * Begins a transaction, or one within another, which does nothing by itself. Until it is committed no other thread can
 * change hooks. -ETIMEDOUT: another one takes more than ten seconds.
 */
MUST_USE int hook_table_begin(struct hook_table *table);

/*
 * Makes what was asked for since hook_table_begin. On failure nothing of it is made, and attachments made since are
 * gone: what patch_transaction_commit and near_memory_begin give; -EINVAL: no transaction was begun.
 */
MUST_USE int hook_table_commit(struct hook_table *table);

/* Ends a transaction, and those around it, without making anything. */
void hook_table_abort(struct hook_table *table);

/*
 * Of one that is held: makes what was asked for so far, and lets the transaction go on; or ends it for now, so that
 * the next one goes on with it.
 */
MUST_USE int hook_table_make(struct hook_table *table);
void hook_table_pause(struct hook_table *table);

/* Where to hook. */
struct hook_target {
    uint64_t address;
    const struct hook_plan *plan; /* for that address; NULL: the table makes one */
    const uint8_t *expected;      /* with a plan: what the displaced instructions should be; NULL: what is there */
    bool is_probe;                /* an instruction, wherever it is; no call is entered or left there */
    bool is_system_call;          /* it makes one, and has a plan: its stub does all that can be wanted */
    bool without_traps;           /* what only a trap could hook is not hooked: -EOPNOTSUPP */
};

/*
 * What all of them say of the target: -EFAULT: nothing is mapped there; -EACCES: it is no code, or shared; -EILSEQ: in
 * the middle of an instruction; -EPERM: our own code; -EOPNOTSUPP: it cannot be hooked; -EBUSY: its bytes are needed
 * for another hook; or it is replaced in place, or hooked and to be replaced in place, or once a function and once a
 * probe; -ESTALE: something else is there than expected.
 */

/* Calls the listener (enter, leave, data and flags count) from now on, behind those that were attached before. */
MUST_USE int hook_table_attach(struct hook_table *table, const struct hook_target *target,
                               const struct hook_listener *listener, struct hook_attachment **attachment_out);

/*
 * No more calls of it are begun; those that were entered are not left. It may be running still on other threads.
 * The attachment is gone when the transaction is committed.
 */
MUST_USE int hook_table_detach(struct hook_table *table, struct hook_attachment *attachment);

/*
 * Calls of the function go to the replacement; what the function was can be called at *original_out (may be NULL),
 * which stays good for as long as the table does. In place: the function's entry jumps straight to the replacement,
 * without listeners, and calls that the replacement makes of the function come back to itself. -EEXIST: it is replaced.
 */
MUST_USE int hook_table_replace(struct hook_table *table, const struct hook_target *target, uint64_t replacement,
                                bool is_in_place, uint64_t *original_out);

/* -ENOENT: it is not replaced. */
MUST_USE int hook_table_revert(struct hook_table *table, uint64_t address);

/* Everything of an address. -ENOENT: it is not hooked. */
MUST_USE int hook_table_unhook(struct hook_table *table, uint64_t address);

/*
 * Plans all functions of the module around an address; visit says of each whether its plan will be used: the padding
 * that it needs is its own then. The plans are good for hook_target. In a transaction. Errors as above.
 */
MUST_USE int hook_table_plan_module(struct hook_table *table, uint64_t address,
                                    bool (*visit)(void *context, const struct elf_function *function,
                                                  const struct hook_plan *plan),
                                    void *context);

/* All that is wanted of a site, by who knows it beforehand. */
struct hook_order {
    struct hook_target target;
    const struct hook_listener *listeners; /* as of hook_table_attach */
    uint32_t listener_count;
    bool is_recorded; /* with this number: */
    uint32_t number;
    bool is_goroutine; /* as struct site_wish has them */
    bool is_exit;
    uint8_t use; /* free for who orders */
};

/*
 * Hooks what is not hooked yet, in a transaction: all code is written at once, and the commit only patches. The site
 * stays where it is as long as the table does, if that is held. -EINVAL: no transaction; errors as above.
 */
MUST_USE int hook_table_order(struct hook_table *table, const struct hook_order *order,
                              const struct hook_site **site_out);

/* Nothing is wanted any more of a site that was ordered; its user knows that its code is there. In a transaction. */
void hook_table_cancel(struct hook_table *table, const struct hook_site *site);

/*
 * Makes a stub that calls a function as it is, with a listener, for who is to call that instead of the function: it can
 * be at once. Lasts as long as the table, which is held. -ENOMEM and others.
 */
MUST_USE int hook_table_make_front(struct hook_table *table, uint64_t function, const struct hook_listener *listener,
                                   uint64_t *entry_out);

/* The site that has the bytes at an address, in place or not. NULL: none has. Signal-safe while nothing changes. */
const struct hook_site *hook_table_find_site(const struct hook_table *table, uint64_t address);

/* Whether code at an address is ours: the user's own, or a stub or a trampoline. As above. */
bool hook_table_has_code(const struct hook_table *table, uint64_t address);

/* The memory of the process, in a transaction. */
const struct forced_memory *hook_table_memory(const struct hook_table *table);

/* Whether an address is hooked, and how. */
bool hook_table_is_hooked(struct hook_table *table, uint64_t address, enum hook_method *method_out);

struct hook_table_statistics {
    size_t site_count;
    size_t retired_count; /* sites whose code is still kept */
    size_t chunk_count;   /* of executable memory */
};

/* Gives back what nobody uses any more, and tells what is left. Stops threads if there is something. */
MUST_USE int hook_table_collect(struct hook_table *table, struct hook_table_statistics *statistics_out);

/*
 * Forgets hooks in code that is no longer mapped, or no longer what it was: there is nothing to bring back. How many.
 */
size_t hook_table_forget_range(struct hook_table *table, uint64_t start, uint64_t end);

#endif
