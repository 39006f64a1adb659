/* SPDX-License-Identifier: MIT */
/*
 * A followed thread. Translated code reaches it through the thread's segment base; the engine gets it as an argument.
 * While the thread is in the engine its registers are in `context`; while it is in the cache, a register is in its home
 * there only where the trail of the block says so.
 */
#ifndef GAIT_STALKER_THREAD_H
#define GAIT_STALKER_THREAD_H

#include "base/address.h"
#include "base/list.h"
#include "gait/cpu_context.h"
#include "process/call_dispatch.h"
#include "stalker/call_telling.h"
#include "stalker/callout.h"
#include "stalker/interrupted_call.h"
#include "stalker/signal_stack.h"
#include "stalker/thread_layout.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_cache;
struct event_buffer;
struct hash_map;
struct stalker_engine;
struct stalker_errand;

/* Why a thread left the cache. */
enum stalker_reason {
    STALKER_EXIT = STALKER_REASON_EXIT,           /* through `exit` of a block */
    STALKER_INDIRECT = STALKER_REASON_INDIRECT,   /* no block is known for `target`, wanted by that of `exit` */
    STALKER_EVENTS = STALKER_REASON_EVENTS,       /* the buffer is full; `resume` is set already */
    STALKER_CHANGED = STALKER_REASON_CHANGED,     /* the original of the block that has `exit` changed */
    STALKER_QUIET_END = STALKER_REASON_QUIET_END, /* an excluded call is over at the block that has `exit` */
    STALKER_CALLED =
        STALKER_REASON_CALLED, /* a system call was made in a call_piece; its registers say where it goes on */
    STALKER_BEHIND,            /* it goes on, at context.pc, behind the callouts that were made there: at `behind` */
    STALKER_ENTER,             /* it was not in the cache: it is to be followed from context.pc on */
};

/* What others ask of a thread; looked at whenever it is in the engine. */
enum stalker_request {
    STALKER_REQUEST_UNFOLLOW = 1u << 0,
    STALKER_REQUEST_ERRAND = 1u << 1, /* `errands` has some */
};

/* Excluded calls, each called by what the one before it called, that are kept apart. */
#define QUIET_DEPTH_MAX 32

/* The kernel's siginfo. */
struct signal_info {
    uint64_t words[16];
};

/* A signal that was queued again. */
struct signal_deferred {
    int signal;               /* 0: none */
    struct signal_info first; /* what is to be delivered next of that number */
    struct signal_info last;  /* what the one that was queued again has */
};

/* Where in a block a thread was met, if records about that block do not say so. */
struct event_cut {
    bool is_cut;
    bool is_told; /* as if all of it would run */
    uint32_t block;
    uint32_t ran_bytes;
};

struct stalker_thread {
    uint64_t self;
    uint64_t engine_sp;
    uint64_t resume;
    uint64_t target;
    uint32_t exit;
    uint32_t reason; /* enum stalker_reason */
    uint64_t gate;
    uint64_t gate_collision;
    uint64_t gate_callout;
    const struct hash_map *blocks;
    uint64_t event_position;
    uint64_t event_limit;
    uint64_t scratch;
    uint64_t native_return;
    uint64_t gate_callout_position;
    uint64_t gate_events;
    uint64_t enter;
    uint64_t leave;
    uint64_t gate_changed;
    uint64_t gate_quiet_end;
    uint64_t quiet_sp; /* where the stack pointer is when an excluded call is over */
    uint64_t gate_called;
    uint64_t is_leaving;  /* it goes on natively */
    uint64_t thread_base; /* what the program has in the register that translated code finds this by */
    uint64_t signals_held;
    uint64_t signals_mask;
    uint64_t collisions; /* counts what indirect branches did not find at once */
    uint64_t call_key;
    uint64_t reserved[5];
    struct gait_cpu_context context;

    /* From here on only the engine knows the fields. */
    struct stalker_engine *engine;
    struct code_cache *cache;              /* where it runs */
    struct code_cache *observed_cache;     /* where it runs outside of excluded code, and events come from */
    uint64_t quiet_below[QUIET_DEPTH_MAX]; /* quiet_sp of excluded calls that called observed code */
    unsigned quiet_depth;
    bool is_inactive;      /* it is not observed, wherever it is */
    struct list_node node; /* in the engine's list; its lock */
    int tid;
    _Atomic uint64_t epoch;         /* the last one that it noted; reclaim.c */
    _Atomic uint32_t requests;      /* of enum stalker_request */
    struct stalker_errand *errands; /* to be run in the engine; its lock */
    void *stack;                    /* the engine's stack on this thread */
    size_t stack_bytes;
    struct signal_stack alternate_stack; /* what the program has; the kernel has one of ours */
    struct signal_deferred deferred;
    struct interrupted_call interrupted; /* that it begins again */
    uint64_t sent_from;           /* where in the cache it was stopped, by somebody who sent it to its entrance */
    uint64_t stepping_from;       /* the last pc that the program's single stepping came to; 0: it does not step */
    struct callout_behind behind; /* set when the program's state is found */
    struct callout_done callouts_done[CALLOUTS_DONE_MAX];
    struct event_buffer *events; /* NULL: none are wanted */
    struct event_cut event_cut;  /* set when the thread's registers are recovered */
    uint64_t stack_page; /* 1 + the address of one that was readable at that many of the engine's mapping_changes */
    uint32_t stack_page_changes;
    uint32_t compiled_end; /* how many blocks there were after the last translation */
    uint8_t *vectors;      /* room for the vector state, while somebody else's code runs */
    bool vectors_saved;
    _Atomic bool is_expected; /* it was sent here by another thread, which has acquired the signal actions for it */
    _Atomic bool is_inside;   /* it is in the cache or the engine, or on its way out; changed on the thread itself */
    bool with_position;       /* translated code has the position of events in a register */
    bool is_trying;           /* it went to where no code is, and should be back by a signal at once */
    bool enter_once;          /* but not where it enters next */
    bool new_threads;         /* threads that it makes are followed alike */
    size_t buffer_bytes;      /* of their events */
    void *watch;              /* the thread watcher's; NULL: nothing */
    bool was_trapped;         /* a filter of system calls did not let one pass that was made for it */
    bool is_in_piece;         /* it makes a system call outside of the cache */
    uint32_t told_count;      /* of system calls that have not returned */
    struct told_call told_calls[TOLD_CALLS_MAX];
    struct call_dispatch dispatch; /* of its system calls */
    bool is_announced;             /* the process watcher was told of the system call that it makes */
    void *announcement;            /* the watcher's */
};

/* The thread whose context that is. */
static inline struct stalker_thread *stalker_thread_of(struct gait_cpu_context *context)
{
    return (struct stalker_thread *)(void *)((char *)context - offsetof(struct stalker_thread, context));
}

/* Whether a stack pointer is on the stack that the engine, and the kernel for signals, have on the thread. */
static inline bool stalker_thread_is_on_stack(const struct stalker_thread *thread, uint64_t sp)
{
    return sp - (uintptr_t)thread->stack < thread->stack_bytes;
}

/* Whether one acquisition of the signal actions is the thread's. */
static inline bool stalker_thread_has_actions(struct stalker_thread *thread)
{
    return atomic_load_explicit(&thread->is_expected, memory_order_relaxed) ||
           atomic_load_explicit(&thread->is_inside, memory_order_relaxed);
}

#define THREAD_FIELD_AT(field, offset)                                                                                 \
    _Static_assert(offsetof(struct stalker_thread, field) == (offset), #field " has moved")
THREAD_FIELD_AT(self, THREAD_SELF);
THREAD_FIELD_AT(engine_sp, THREAD_ENGINE_SP);
THREAD_FIELD_AT(resume, THREAD_RESUME);
THREAD_FIELD_AT(target, THREAD_TARGET);
THREAD_FIELD_AT(exit, THREAD_EXIT);
THREAD_FIELD_AT(reason, THREAD_REASON);
THREAD_FIELD_AT(gate, THREAD_GATE);
THREAD_FIELD_AT(gate_collision, THREAD_GATE_COLLISION);
THREAD_FIELD_AT(gate_callout, THREAD_GATE_CALLOUT);
THREAD_FIELD_AT(blocks, THREAD_BLOCKS);
THREAD_FIELD_AT(event_position, THREAD_EVENT_POSITION);
THREAD_FIELD_AT(event_limit, THREAD_EVENT_LIMIT);
THREAD_FIELD_AT(scratch, THREAD_SCRATCH);
THREAD_FIELD_AT(native_return, THREAD_NATIVE_RETURN);
THREAD_FIELD_AT(gate_callout_position, THREAD_GATE_CALLOUT_POSITION);
THREAD_FIELD_AT(gate_events, THREAD_GATE_EVENTS);
THREAD_FIELD_AT(enter, THREAD_ENTER);
THREAD_FIELD_AT(leave, THREAD_LEAVE);
THREAD_FIELD_AT(gate_changed, THREAD_GATE_CHANGED);
THREAD_FIELD_AT(gate_quiet_end, THREAD_GATE_QUIET_END);
THREAD_FIELD_AT(quiet_sp, THREAD_QUIET_SP);
THREAD_FIELD_AT(gate_called, THREAD_GATE_CALLED);
THREAD_FIELD_AT(is_leaving, THREAD_IS_LEAVING);
THREAD_FIELD_AT(thread_base, THREAD_BASE);
THREAD_FIELD_AT(signals_held, THREAD_SIGNALS_HELD);
THREAD_FIELD_AT(signals_mask, THREAD_SIGNALS_MASK);
THREAD_FIELD_AT(collisions, THREAD_COLLISIONS);
THREAD_FIELD_AT(call_key, THREAD_CALL_KEY);
THREAD_FIELD_AT(context, THREAD_CONTEXT);
THREAD_FIELD_AT(context.pc, THREAD_CONTEXT_PC);
THREAD_FIELD_AT(context.flags, THREAD_CONTEXT_FLAGS);
#undef THREAD_FIELD_AT

#endif
