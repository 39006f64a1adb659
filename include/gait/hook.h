/* SPDX-License-Identifier: MIT */
/*
 * Hooking functions of this process: listeners are called when one is entered and when it returns, an instruction in
 * the middle of one can be probed, a function can be replaced by another. The function's first bytes are overwritten by
 * a jump; all else runs as it always does, at its own speed.
 *
 * Hooks are put in place and taken away while other threads run: they are stopped for a moment, and a thread that
 * stands in the bytes that change goes on in a copy of them. Exceptions, longjmp, coroutines, signal handlers,
 * backtraces and the end of threads go through hooked functions as through others.
 *
 * Functions that can fail return 0 or a negated errno number. Unless it says otherwise, a function can be called from
 * any thread, also by listeners, but not in signal handlers.
 */
#ifndef GAIT_HOOK_H
#define GAIT_HOOK_H

#include "gait/error.h"
#include "gait/hook_invocation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The hooks of this process. There is one of it. */
struct gait_hooks;

/* A listener that is attached to a function, or probes an instruction. */
struct gait_hook;

/* Zeroes mean the default everywhere but in size_bytes. */
struct gait_hooks_options {
    size_t size_bytes;
    bool write_xor_execute; /* no memory is mapped writable and executable at once */
};

/*
 * Acquires the hooks of this process; the first call makes them, and only its options count. options may be NULL. Each
 * call is paired with one of gait_hooks_release. -EOPNOTSUPP: functions cannot be hooked on this CPU yet; -ENOMEM;
 * -EACCES, -EPERM: no memory that may be executed, or no access to /proc/self/mem; -EINVAL: options that are not known.
 */
int gait_hooks_acquire(const struct gait_hooks_options *options, struct gait_hooks **hooks_out, struct gait_error *err);

/*
 * The last release removes all hooks. Code that threads are still in, or will return to, stays. Errors as
 * gait_hooks_commit; then the hooks are not released. NULL is fine.
 */
int gait_hooks_release(struct gait_hooks *hooks, struct gait_error *err);

/* ---- listeners ----------------------------------------------------------------------------------------------------
 */

/* Callbacks for invocations (gait/hook_invocation.h). */
struct gait_listener {
    size_t size_bytes;
    gait_invocation_function enter; /* NULL: not wanted */
    gait_invocation_function leave; /* NULL: not wanted */
    void *data;
    bool general_only;  /* both were compiled with GAIT_GENERAL_REGISTERS_ONLY (gait/stalker.h), as all they call */
    bool unwound;       /* `leave` is called, with GAIT_INVOCATION_UNWOUND, for calls that ended without returning */
    bool without_traps; /* a function without room for a jump, which would be hooked by a trap, is not hooked */
};

/*
 * Listens to the function that begins at an address; of several listeners, the one that was attached first is called
 * first. A listener stays until it is detached, hook_out (may be NULL) is for that; calls that are under way are not
 * reported.
 *
 * -EFAULT: nothing is mapped there; -EACCES: it is no code, or code that is shared with other processes; -EILSEQ: it is
 * in the middle of an instruction; -EPERM: it is code of gait, or the system does not let us stop threads; -EOPNOTSUPP:
 * it cannot be hooked, and the text says why; -EBUSY: its bytes are needed for another hook, it is replaced in place,
 * or it is probed; -ESTALE: other software has changed the code; -ETIMEDOUT: a thread does not stop, because it is in a
 * vfork, for one; -EINVAL: a listener without callbacks, or fields that are not known; -ENOMEM.
 *
 * A function that looks at its own return address, as setjmp, vfork or getcontext do, is entered but never left. A few
 * functions have no room for a jump, and get a trap, for which gait handles SIGTRAP: what is not its own goes on to the
 * program's handler. A thread that calls such a function while it blocks SIGTRAP is ended by the kernel.
 */
int gait_hook_attach(struct gait_hooks *hooks, uint64_t function, const struct gait_listener *listener,
                     struct gait_hook **hook_out, struct gait_error *err);

/*
 * Calls `enter` of a listener (it has no `leave`) before each execution of the instruction at an address, anywhere in a
 * function. As gait_hook_attach; -EOPNOTSUPP also if branches lead to the instructions right behind it.
 */
int gait_hook_probe(struct gait_hooks *hooks, uint64_t instruction, const struct gait_listener *listener,
                    struct gait_hook **hook_out, struct gait_error *err);

/*
 * The listener is not called any more, not even for the returns of calls whose entry it saw; on other threads it may
 * still be running when this returns. It may detach itself. The hook is gone.
 */
int gait_hook_detach(struct gait_hooks *hooks, struct gait_hook *hook, struct gait_error *err);

/* Chooses functions. The name does not end in a NUL; NULL: the function has none. */
typedef bool (*gait_function_choice)(void *context, const char *name, size_t name_length, uint64_t function);

/*
 * Listens to all functions of the module around an address that can be hooked and that `choose` (NULL: all) wants; the
 * names are those of the file's symbol tables. count_out (may be NULL) is how many they are. They are detached by
 * gait_hook_unhook. -ENOENT: no file is mapped there; else as gait_hook_attach.
 */
int gait_hook_attach_module(struct gait_hooks *hooks, uint64_t address, gait_function_choice choose, void *context,
                            const struct gait_listener *listener, size_t *count_out, struct gait_error *err);

/* Removes everything from an address: its listeners, which are freed, and its replacement. -ENOENT: it is not hooked.
 */
int gait_hook_unhook(struct gait_hooks *hooks, uint64_t address, struct gait_error *err);

/* ---- replacements -------------------------------------------------------------------------------------------------
 */

/*
 * Calls of a function go to the replacement, which takes the same arguments. Listeners of the function are called
 * as before. Calls that the replacement makes of the function, itself or by way of others, go to what the function was;
 * that can also be called at *original_out (may be NULL), as long as the hooks are not released, replaced or not. It is
 * set before the replacement is first called. -EEXIST: it is replaced already; -EINVAL: by itself; else as
 * gait_hook_attach.
 */
int gait_hook_replace(struct gait_hooks *hooks, uint64_t function, uint64_t replacement, void **original_out,
                      struct gait_error *err);

/*
 * The same without anything in between: the function's entry jumps straight to the replacement. Calls that it makes of
 * the function come back to itself; only *original_out leads to what the function was. -EBUSY: the function has
 * listeners; and it can have none from now on.
 */
int gait_hook_replace_in_place(struct gait_hooks *hooks, uint64_t function, uint64_t replacement, void **original_out,
                               struct gait_error *err);

/* Zeroes mean the default everywhere but in size_bytes and function. */
struct gait_replacement {
    size_t size_bytes;
    uint64_t function;   /* that is called instead */
    void *data;          /* for gait_hook_replaced_call; one function can so be the replacement of many */
    void **original_out; /* as above */
    bool in_place;       /* as gait_hook_replace_in_place: then there is neither data nor a call to be found */
};

/* As gait_hook_replace. -EINVAL also for data in place, and for fields that are not known. */
int gait_hook_put_replacement(struct gait_hooks *hooks, uint64_t function, const struct gait_replacement *replacement,
                              struct gait_error *err);

/* A call that goes to a replacement. */
struct gait_replaced_call {
    size_t size_bytes;       /* to be set before */
    uint64_t function;       /* that was called */
    uint64_t return_address; /* the caller's */
    void *data;              /* as given with the replacement that the function has now */
    uint32_t depth;          /* how many calls of hooked functions this one is in */
};

/*
 * Inside of a replacement, and of what that calls: which call it stands for, the innermost one of the calling thread.
 * False: there is none, as outside of replacements. Signal-safe.
 */
bool gait_hook_replaced_call(struct gait_replaced_call *call_out);

/* The function is what it was. Replacements that are running go on. -ENOENT: it is not replaced. */
int gait_hook_revert(struct gait_hooks *hooks, uint64_t function, struct gait_error *err);

/* ---- transactions -------------------------------------------------------------------------------------------------
 */

/*
 * Changes from here on are made by gait_hooks_commit, all at once, which is much quicker than one by one. A
 * transaction within another one belongs to it. Until the commit, other threads that change hooks wait. -ETIMEDOUT:
 * another thread's transaction takes more than ten seconds.
 */
int gait_hooks_begin(struct gait_hooks *hooks, struct gait_error *err);

/*
 * On failure nothing of the transaction is done: hooks that it attached are gone, those that it detached are there.
 * Errors as gait_hook_attach; -EINVAL: there is no transaction.
 */
int gait_hooks_commit(struct gait_hooks *hooks, struct gait_error *err);

/* Drops the changes of the transaction. */
void gait_hooks_abort(struct gait_hooks *hooks);

/* ---- ignoring threads, inspection -----------------------------------------------------------------------------------
 */

/* Calls that the calling thread makes are reported to no listener, until as many calls of the second function. */
void gait_hooks_ignore_me(struct gait_hooks *hooks);
void gait_hooks_listen_to_me(struct gait_hooks *hooks);

/* The same for all threads but the calling one. -EBUSY: another thread does that already; -ENOMEM. */
int gait_hooks_ignore_others(struct gait_hooks *hooks, struct gait_error *err);
void gait_hooks_listen_to_others(struct gait_hooks *hooks);

/* How a function is hooked. */
enum gait_hook_method {
    GAIT_HOOK_NONE,              /* it is not */
    GAIT_HOOK_JUMP,              /* a jump over its first instructions */
    GAIT_HOOK_JUMP_INTO_PADDING, /* and over unused bytes behind it */
    GAIT_HOOK_HOP,               /* a short jump to one in such bytes near by */
    GAIT_HOOK_TRAP               /* a trap */
};

/* What is in the way of a plain jump at the entry of a function, which is hooked in another way then, or not at all. */
enum gait_hook_obstacle {
    GAIT_HOOK_NO_OBSTACLE,
    GAIT_HOOK_TOO_SHORT,
    GAIT_HOOK_BRANCH_INSIDE,  /* a branch leads into the bytes that a jump needs */
    GAIT_HOOK_RETURN_INSIDE,  /* a call would come back into them */
    GAIT_HOOK_LOOP_TO_ENTRY,  /* it branches back to its entry */
    GAIT_HOOK_NOT_MOVABLE,    /* an instruction there does the same at its place only */
    GAIT_HOOK_NOT_CODE,       /* its bytes are no instructions */
    GAIT_HOOK_NOT_MAPPED,     /* it is in no readable code */
    GAIT_HOOK_NOT_A_FUNCTION, /* it is a part of a function, which is jumped to */
    GAIT_HOOK_IS_A_TRAP,      /* it only raises a signal */
    GAIT_HOOK_KNOWN_BY_BYTES  /* debuggers and unwinders know it by its bytes */
};

/*
 * Finds out, of a function that is hooked or not. What refused a function with -EOPNOTSUPP is this, and the text of
 * that error says it as well. Errors as gait_hook_attach.
 */
int gait_hook_find_obstacle(struct gait_hooks *hooks, uint64_t address, enum gait_hook_obstacle *obstacle_out,
                            struct gait_error *err);

enum gait_hook_method gait_hook_method_of(struct gait_hooks *hooks, uint64_t address);

/* Filled up to its size_bytes. */
struct gait_hooks_statistics {
    size_t size_bytes;
    size_t hooked;  /* addresses that are, or were hooked lately and are kept for another time; unwinders always are */
    size_t retired; /* addresses that are no longer hooked, but in whose code a thread is, or was at the last look */
    size_t chunks;  /* of executable memory, 256 KiB each */
};

/* Frees what is not needed any more, and reports what is left. statistics_out may be NULL. Errors as commit. */
int gait_hooks_collect(struct gait_hooks *hooks, struct gait_hooks_statistics *statistics_out, struct gait_error *err);

/*
 * Forgets all hooks in a range whose code is gone, since a library was unloaded. Their code is not brought back.
 * Returns how many there were.
 */
size_t gait_hooks_forget(struct gait_hooks *hooks, uint64_t start, uint64_t size_bytes);

#ifdef __cplusplus
}
#endif

#endif
