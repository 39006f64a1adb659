/* SPDX-License-Identifier: MIT */
/*
 * Stubs: what the patched entry of a function jumps to. A stub tells whoever wants to know that the function is
 * entered, calls what the function was (its trampoline, or its replacement), tells that it has returned, and returns to
 * the caller with everything as the function left it. This is the contract that arch/<cpu>/hook fulfils.
 *
 * All that a stub needs to know of its function is a struct hook_function; stubs that want other parts are written anew
 * and put in the place of the old one, which must stay as long as threads are in it or will return into it.
 */
#ifndef GAIT_HOOK_HOOK_STUB_H
#define GAIT_HOOK_HOOK_STUB_H

#include "base/address.h"
#include "base/attributes.h"
#include "gait/hook_invocation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_writer;

enum hook_listener_flag {
    HOOK_LISTENER_GENERAL_ONLY = 1, /* it uses no vector and floating point registers */
    HOOK_LISTENER_UNWOUND = 2,      /* `leave` is told of calls that were unwound too */
    HOOK_LISTENER_ENTRY_ONLY = 4,   /* the function must find its return address: its stub has no HOOK_STUB_RETURNS */
};

struct hook_listener {
    gait_invocation_function enter; /* NULL: not wanted */
    gait_invocation_function leave; /* NULL: not wanted */
    void *data;
    uint32_t flags; /* enum hook_listener_flag */
    uint32_t place; /* whose data of a call is its; below the list's `places`, its own as long as it is attached */
    uint32_t
        serial; /* from 1 on; grows with each that is attached to the function: calls entered before it are not its */
};

/*
 * Never changed once it is published in a function. May be freed when hook_quiescence_reached() says so of a
 * hook_quiescence begun after another list has taken its place.
 */
struct hook_listeners {
    uint32_t count;
    uint32_t places;
    uint32_t last_serial;     /* the highest that was given so far */
    uint32_t is_general_only; /* all of them are */
    struct hook_listener items[];
};

/* Lives as long as one of its stubs does. Owned by the table of hooks. */
struct hook_function {
    uint64_t address;                                 /* the function's, or the probed instruction's */
    uint64_t trampoline;                              /* where that goes on as if it were not hooked */
    _Atomic(const struct hook_listeners *) listeners; /* NULL: none */
    uint32_t record_number;                           /* of the records that are written of it; see ring_block */
    void *owner;                                      /* free for the table of hooks */
};

enum hook_stub_part {
    HOOK_STUB_LISTEN = 1,   /* calls the function's listeners */
    HOOK_STUB_RECORD = 2,   /* writes records */
    HOOK_STUB_RETURNS = 4,  /* with what comes when it returns; without: for functions whose return address is theirs */
    HOOK_STUB_PROBE = 8,    /* in the middle of a function: no return, and what is below the stack pointer is in use */
    HOOK_STUB_REPLACE = 16, /* `target` is a replacement: calls that it makes of the function go to the trampoline */
    HOOK_STUB_GOROUTINE = 32, /* of a function of Go whose returns are hooked, too: told with the goroutine */
    HOOK_STUB_EXIT = 64,      /* the same, before one of these returns */
};

struct hook_stub_request {
    struct hook_function *function;
    uint64_t target; /* what is called instead of the function: its trampoline, or its replacement */
    unsigned parts;  /* enum hook_stub_part */
};

/* What was written. */
struct hook_stub {
    struct cache_pc entry;   /* where the function's entry jumps to */
    struct cache_pc landing; /* where the function returns to; 0 without HOOK_STUB_RETURNS */
    size_t size_bytes;
};

/* No stub is longer. */
#define HOOK_STUB_BYTES_MAX 128

/* Whether there are stubs for this CPU. */
bool hook_stub_is_supported(void);

/*
 * Writes a stub. Threads may run it once it is committed, if hook_threads_begin() has worked. -EOPNOTSUPP: not on this
 * CPU; -EINVAL: parts that do not go together. A full writer is told by the writer.
 */
MUST_USE int hook_stub_write(struct code_writer *writer, const struct hook_stub_request *request,
                             struct hook_stub *stub_out);

/*
 * How many calls under way will return into [start, end): code that must stay. Threads that run there right now are not
 * counted: whoever removes code looks at their pcs himself. Any thread; exact while the threads are stopped, by one
 * that has taken hook_threads_lock() before.
 */
size_t hook_stub_pending(uint64_t start, uint64_t end);

/*
 * When nobody uses any more what was there to be found (a list of listeners, say) when it was begun. A thread that
 * calls it from a listener is not waited for. Any thread; no locks, no memory.
 */
struct hook_quiescence {
    uint64_t epoch;
};

void hook_quiescence_begin(struct hook_quiescence *quiescence);
bool hook_quiescence_reached(const struct hook_quiescence *quiescence);

#endif
