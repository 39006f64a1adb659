/* SPDX-License-Identifier: MIT */
/* C functions that translated code calls. */
#ifndef GAIT_STALKER_CALLOUT_H
#define GAIT_STALKER_CALLOUT_H

#include "base/address.h"
#include "gait/stalker.h"

#include <stdbool.h>
#include <stdint.h>

struct block;
struct code_cache;
struct stalker_thread;

/* Lives as long as the block that it is put into. */
struct callout {
    gait_callout function;
    void *data;
    struct app_pc pc; /* where it stands */
    bool is_general_only;
};

/* What translated code leaves where the engine's stack begins. */
struct callout_call {
    uint64_t behind; /* where it goes on in the block */
    const struct callout *callout;
};

/*
 * Calls the function with the thread's registers, which are in its context. From the gate, on the engine's stack.
 * with_position: where the block goes on, the position of events is in its register.
 * Returns whether the thread goes on by way of `resume`.
 */
bool stalker_callout(struct stalker_thread *thread, const struct callout_call *call, bool with_position);

/* Lets the thread go on behind the callout by way of the engine: signals that came during it are held until then. */
void stalker_callout_interrupted(struct stalker_thread *thread, const struct callout_call *call, bool with_position);

/* ---- callouts that were made ------------------------------------------------------------------------------------- */

/*
 * Callouts that were made already at the instruction where a thread is interrupted: when it comes back there they are
 * not made again. What a thread is behind is found with its state, in `behind`; handlers may be nested, so it is kept
 * by the frame that says where the handler returns to. Of the thread itself; signal-safe.
 */

/* Handlers that interrupted each other right behind callouts; of more, the callouts of the outermost are made again. */
#define CALLOUTS_DONE_MAX 8

/* A place in a block, right behind a callout or other code that a transformer put there. The registers are the
 * program's. */
struct callout_behind {
    uint64_t cache_pc;         /* 0: none */
    bool with_position;        /* the position of events is in its register there */
    uint8_t done;              /* how many callouts and pieces of code at the program's pc are before it */
    const struct block *block; /* the one it is part of; NULL: the thread has not been elsewhere since */
    const struct code_cache *cache;
};

/* One that a handler returns to. */
struct callout_done {
    uint64_t frame; /* 0: not in use */
    uint64_t pc;
    struct callout_behind behind;
};

/*
 * The thread, whose state was found, leaves what it is behind, and may come back. False: it is behind nothing. Lets
 * callout_done_is_valid find out whether that is still there.
 */
bool callout_done_leave(struct stalker_thread *thread);

/* A handler begins, with the thread's state, which is at pc, in `frame`: keeps what it is behind. */
void callout_done_keep(struct stalker_thread *thread, uint64_t frame, uint64_t pc);

/* The handler returns to pc: finds what was kept. False: the thread is behind nothing. */
bool callout_done_take(struct stalker_thread *thread, uint64_t frame, uint64_t pc);

/* Whether the thread, which is in the engine, can go on behind the callouts: they may have been forgotten meanwhile. */
bool callout_done_is_valid(struct stalker_thread *thread);

#endif
