/* SPDX-License-Identifier: MIT */
/*
 * Following threads: the engine translates their code block by block into a cache, writes instrumentation into the
 * translation, and runs it there at close to its own speed. The program's stack, registers and memory are what they
 * would be; its own code is never changed.
 *
 * Functions that can fail return 0 or a negated errno number. Unless it says otherwise, a function can be called from
 * any thread, followed or not, also in callouts, probes and sinks, but not from inside of a transformer.
 */
#ifndef GAIT_STALKER_H
#define GAIT_STALKER_H

#include "gait/cpu_context.h"
#include "gait/error.h"
#include "gait/instruction.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gait_stalker;

/*
 * When translated code is compared with the original as it is now. By default code that can be written without a
 * system call (writable, or shared with another mapping) is compared each time that it runs, and all other code is
 * forgotten when its mapping changes; so changes are always noticed, and ordinary code costs nothing.
 */
enum gait_trust {
    GAIT_TRUST_NEVER = -1,  /* all code is compared each time that it runs */
    GAIT_TRUST_DEFAULT = 0, /* as said above */
    GAIT_TRUST_MOST = 1000  /* 1 to this: in addition, when the engine meets it, until it was unchanged that often */
};

/* Zeroes mean the default everywhere but in size_bytes. A smaller size_bytes (an older header) is filled with zeroes.
 */
struct gait_stalker_options {
    size_t size_bytes;
    /* For tests and experiments: what the engine is to do without. */
    bool without_links;      /* no branch from block to block */
    bool without_lookup;     /* no indirect branch resolved in the cache */
    bool without_adjacent;   /* only blocks that are reached are translated */
    size_t slab_bytes;       /* of executable memory mapped at a time, at least 64 KiB; 0: the engine's choice */
    size_t code_bytes_max;   /* of translated code for threads followed alike, before the oldest goes; 0: no limit */
    int trust;               /* enum gait_trust or a number */
    bool callbacks_followed; /* what excluded code calls elsewhere is observed */
    /*
     * No memory is mapped writable and executable at once, but each page twice, by a memory file. Without it the engine
     * finds out what the system allows: both at once; by a memory file; or memory that is written first and executed
     * then, for which blocks are not linked to each other and programs run slower.
     */
    bool write_xor_execute;
};

/*
 * Makes an engine. -EOPNOTSUPP: gait cannot follow threads on this CPU yet; -ENOMEM: no memory; -EACCES, -EPERM: none
 * that may be executed, in none of the ways that the options allow; -EINVAL: options that are not known.
 */
int gait_stalker_create(const struct gait_stalker_options *options, struct gait_stalker **stalker_out,
                        struct gait_error *err);

/*
 * Unfollows all threads, waits for functions that were begun on other threads, and frees everything. Not from a
 * followed thread. NULL is fine.
 */
void gait_stalker_destroy(struct gait_stalker *stalker);

/* ---- events ----------------------------------------------------------------------------------------------------- */

/* Bits of gait_follow_options.events: those of hooked functions are not for followed threads. */
enum gait_event_kind {
    GAIT_EVENT_CALL = 1 << 0,
    GAIT_EVENT_RET = 1 << 1,
    GAIT_EVENT_EXEC = 1 << 2,    /* an instruction is about to run: one that a transformer kept, if there is one */
    GAIT_EVENT_BLOCK = 1 << 3,   /* a block is about to run */
    GAIT_EVENT_COMPILE = 1 << 4, /* a block was translated; it may never run */
    GAIT_EVENT_ENTER = 1 << 5,   /* a hooked function was called */
    GAIT_EVENT_LEAVE = 1 << 6,   /* it returned, or was left in another way */
    /* Where a thread has several stacks: it goes on on another one, or on that of the function; target is the stack's
       number. Of hooked functions, told with enters and leaves; not to be asked for. */
    GAIT_EVENT_SUSPEND = 1 << 7,
    GAIT_EVENT_RESUME = 1 << 8,
    GAIT_EVENT_GOROUTINE = 1 << 9 /* from here on the thread runs that goroutine (target); likewise */
};

struct gait_event {
    uint32_t kind; /* one of enum gait_event_kind */
    int32_t depth; /* of calls and returns: how deep the caller is, from where following began; of a hooked function:
                      how many others the thread is in; below 0, of Go: how high its goroutine's stack is, with the
                      highest bit set */
    uint64_t location; /* of the instruction; where a block, or a hooked function, begins */
    uint64_t target;   /* where a call or return goes; where a block ends */
    uint32_t tid;
    uint16_t is_unwound;    /* of GAIT_EVENT_LEAVE: not 0 if an exception or a long jump ended the function */
    uint16_t is_entry_only; /* of GAIT_EVENT_LEAVE: not 0 if it is not known when the function ended */
    uint64_t time; /* of the counter that gait/clock.h reads, if times are asked for, and of hooked functions */
};

/*
 * Where a thread's events go, in order and in batches. `process` is called on the followed thread, between two of its
 * instructions: it may be anywhere, also in malloc with its lock held. Nonzero: an error, after which the thread's
 * events are dropped and counted.
 */
struct gait_event_sink {
    int (*process)(void *context, const struct gait_event *events, size_t count);
    void *context;
};

/* ---- transformers ------------------------------------------------------------------------------------------------ */

struct gait_iterator;

/*
 * Decides what a block becomes. `transform` is called when a block is translated, on whichever thread needs it, one
 * call at a time: it asks for one instruction after the other (gait_iterator_next) and keeps them (gait_iterator_keep)
 * or not. An instruction that is not kept is left out, and has no GAIT_EVENT_EXEC, also if something else was
 * put in its place; a block whose last instruction is left out goes on to what follows it, and there is no call or
 * return event either. A transformer that asks for no instruction at all keeps the block as it is. One that puts
 * so much that the block does not fit is called again with a shorter block, the rest of which becomes blocks of its
 * own.
 *
 * The thread that needs the block may be anywhere, also in malloc with its lock held, so a transformer must not call
 * what takes a lock that followed code takes: of libc, no memory, no stdio. The struct must live as long as threads are
 * followed with it. Translations are remembered by its address: before that becomes another transformer, call
 * gait_stalker_collect.
 */
struct gait_transformer {
    void (*transform)(void *context, struct gait_iterator *iterator);
    void *context;
};

/*
 * Goes to the block's next instruction; the first one at first. False: there is none, or no room for more in this
 * block, which then ends here. instruction_out (may be NULL) needs its size_bytes set.
 */
bool gait_iterator_next(struct gait_iterator *iterator, struct gait_instruction *instruction_out);

/* Puts the current instruction. */
void gait_iterator_keep(struct gait_iterator *iterator);

/*
 * A function to be called at a place in a block, with all that the program has in its registers; what it changes there
 * takes effect, the pc included; vector and floating-point registers by gait/cpu_registers.h. It runs on the engine's
 * stack of the thread, 128 KiB at least.
 */
typedef void (*gait_callout)(struct gait_cpu_context *cpu, void *data);

enum gait_callout_use {
    GAIT_CALLOUT_ANY = 0,         /* an ordinary function: vector and floating point registers are saved around it */
    GAIT_CALLOUT_GENERAL_ONLY = 1 /* it was compiled with GAIT_GENERAL_REGISTERS_ONLY, as all that it calls */
};

/* Compiles a function so that it leaves vector and floating point registers alone. */
#define GAIT_GENERAL_REGISTERS_ONLY __attribute__((target("general-regs-only")))

/* Puts a call of the function before whatever is put next. NULL puts nothing. */
void gait_iterator_put_callout(struct gait_iterator *iterator, gait_callout callout, void *data,
                               enum gait_callout_use use);

/*
 * Puts machine code of the caller's, which must be position-independent and leave the stack pointer as it was. NULL
 * puts nothing.
 */
void gait_iterator_put_code(struct gait_iterator *iterator, const void *code, size_t size_bytes);

/*
 * Puts an increment of a 64-bit counter that leaves all registers and flags alone, somewhere in what is left of the
 * block. It is not atomic: threads that run the same block at once may lose some. NULL, which gait_iterator_new_counter
 * may have given, puts nothing.
 */
void gait_iterator_put_count(struct gait_iterator *iterator, uint64_t *counter);

/*
 * A new counter, 0 at first, where increments are cheapest. It lives as long as the stalker, or until
 * gait_stalker_collect is called when no thread is followed any more with this transformer and these events. NULL: no
 * memory.
 */
uint64_t *gait_iterator_new_counter(struct gait_iterator *iterator);

/* Puts a return to the caller of the function that the block is in, as its first instruction would: the CPU finds the
 * return address where a call has left it.
 */
void gait_iterator_put_return(struct gait_iterator *iterator);

/* ---- following --------------------------------------------------------------------------------------------------- */

struct gait_event_ring;

struct gait_follow_options {
    size_t size_bytes;
    uint32_t events;                            /* of enum gait_event_kind */
    const struct gait_transformer *transformer; /* NULL: keeps everything */
    const struct gait_event_sink *sink;         /* NULL: the last events are kept, older ones dropped and counted */
    size_t buffer_bytes;                        /* of events kept before they go to the sink; 0: 256 KiB */
    bool new_threads;                           /* threads that a followed one makes are followed alike */
    bool times;                                 /* events carry the time of their block */
    struct gait_event_ring *ring;               /* of gait/event_ring.h: where events go instead of to a sink */
};

/*
 * Follows the calling thread from where this returns. options may be NULL. -EALREADY: it is followed; -EINVAL: options
 * that are not known; -ENOMEM.
 */
int gait_stalker_follow_me(struct gait_stalker *stalker, const struct gait_follow_options *options,
                           struct gait_error *err);

/* Unfollows the calling thread: it runs natively from where this returns. -ESRCH: it is not followed. */
int gait_stalker_unfollow_me(struct gait_stalker *stalker, struct gait_error *err);

/*
 * Follows another thread of this process, whatever it is doing. -ESRCH: there is no such thread; -EALREADY; -EPERM:
 * another process traces it, or the system forbids it; -EINVAL, -ENOMEM as above.
 */
int gait_stalker_follow(struct gait_stalker *stalker, int tid, const struct gait_follow_options *options,
                        struct gait_error *err);
int gait_stalker_unfollow(struct gait_stalker *stalker, int tid, struct gait_error *err);

/*
 * Follows all other threads that the process has now, each as above, and counts them. With new_threads, those that
 * they make are followed as well. Threads that are followed already, or end meanwhile, are no errors; the first other
 * one is returned after all have been tried.
 */
int gait_stalker_follow_all(struct gait_stalker *stalker, const struct gait_follow_options *options, size_t *count_out,
                            struct gait_error *err);

/* Unfollows all threads, the calling one too. */
int gait_stalker_unfollow_all(struct gait_stalker *stalker, struct gait_error *err);

/*
 * Pauses and resumes: until activate, nothing of the calling thread is observed, but it stays in the engine's hands,
 * and resuming costs next to nothing. -ESRCH: it is not followed; -ENOMEM.
 */
int gait_stalker_deactivate(struct gait_stalker *stalker, struct gait_error *err);
int gait_stalker_activate(struct gait_stalker *stalker, struct gait_error *err);

/* Whether a thread is followed. */
bool gait_stalker_is_following(struct gait_stalker *stalker, int tid);
bool gait_stalker_is_following_me(struct gait_stalker *stalker);

/* ---- probes, exclusion, invalidation ----------------------------------------------------------------------------- */

/* A call of a probed function, before its first instruction. */
struct gait_call {
    uint64_t target;
    uint64_t return_address; /* 0 where there is no stack */
    uint64_t *stack;         /* stack[0] is the return address; NULL: the stack pointer leads to no memory */
    struct gait_cpu_context *cpu;
};

typedef void (*gait_call_probe)(struct gait_call *call, void *data);

/*
 * Calls the probe each time that a followed thread enters the block at `target`, in the order in which probes were
 * added. The id is for removing it.
 */
int gait_stalker_add_call_probe(struct gait_stalker *stalker, uint64_t target, gait_call_probe probe, void *data,
                                uint32_t *id_out, struct gait_error *err);
int gait_stalker_remove_call_probe(struct gait_stalker *stalker, uint32_t id, struct gait_error *err);

/*
 * Leaves a range of code alone: from a call or jump into it until control is back in the caller, nothing is observed.
 * -EEXIST: it overlaps another one; -EINVAL: it is empty.
 */
int gait_stalker_exclude(struct gait_stalker *stalker, uint64_t start, uint64_t size_bytes, struct gait_error *err);

/*
 * Takes the exclusion of exactly that range back. A thread that is in it is observed again at the latest when control
 * is back in what called it. -ENOENT: that range was not excluded, or only with others or as a part of one.
 */
int gait_stalker_include(struct gait_stalker *stalker, uint64_t start, uint64_t size_bytes, struct gait_error *err);

/* Whether an address is in an excluded range. */
bool gait_stalker_is_excluded(struct gait_stalker *stalker, uint64_t address);

/*
 * Lets blocks that begin in a range of code write no events. Unlike excluded code it is followed as any other: calls of
 * it are events of the caller, and what it calls elsewhere writes its events, so that nothing is missed but what
 * happens in the range itself. Transformers and call probes see it. Parts of the range may be silent already. -EINVAL:
 * it is empty, or goes beyond the last address; -ENOMEM.
 */
int gait_stalker_silence(struct gait_stalker *stalker, uint64_t start, uint64_t size_bytes, struct gait_error *err);

/* Lets a range write its events again, as far as it was silent. Errors as above. */
int gait_stalker_unsilence(struct gait_stalker *stalker, uint64_t start, uint64_t size_bytes, struct gait_error *err);

/* Whether an address is in a silent range. */
bool gait_stalker_is_silent(struct gait_stalker *stalker, uint64_t address);

/*
 * Forgets the translations of code that overlaps a range, so that it is translated anew. A thread that is in one runs
 * it to the end of its block. -EINVAL: the range is empty, or goes beyond the last address.
 */
int gait_stalker_invalidate(struct gait_stalker *stalker, uint64_t start, uint64_t size_bytes, struct gait_error *err);

/*
 * The same only for the way in which a thread is followed. Threads that are followed alike, with the same events and
 * the same transformer, share their translations: it holds for them, too. -ESRCH: the thread is not followed.
 */
int gait_stalker_invalidate_for(struct gait_stalker *stalker, int tid, uint64_t start, uint64_t size_bytes,
                                struct gait_error *err);

/*
 * Translates the block at an address ahead of time, for threads that are followed that way; of the options only events
 * and transformer count. Nothing happens if it is translated already. -EFAULT: no code can be read there; -ENOMEM.
 */
int gait_stalker_prefetch(struct gait_stalker *stalker, const struct gait_follow_options *options, uint64_t address,
                          struct gait_error *err);

/*
 * Makes a branch of the block at `from` go straight to the block at `to`, as the engine does when the branch is first
 * taken; both are translated if they are not. With gait_stalker_prefetch this is for who forks often: what observers of
 * a child were notified of is done by its parent before the next fork, and no child has to do it again. Addresses are
 * all there is to send. -ENOENT: no branch of that block leads there by itself; else as gait_stalker_prefetch.
 */
int gait_stalker_prefetch_link(struct gait_stalker *stalker, const struct gait_follow_options *options, uint64_t from,
                               uint64_t to, struct gait_error *err);

/*
 * Translates the block that begins at an address again, at once: the transformer is asked again, and threads that are
 * followed that way get what it makes now from when they next come to the block. -ENOENT: the block is not translated,
 * or not by itself (an address in the middle of another block); there is nothing to replace then, and nothing is done.
 * -EFAULT: no code can be read there any more; -ENOMEM: the old translation is forgotten all the same.
 */
int gait_stalker_recompile(struct gait_stalker *stalker, const struct gait_follow_options *options, uint64_t address,
                           struct gait_error *err);

/*
 * Frees memory that is not needed any more: of threads that ended, of translations that were forgotten, of
 * transformers that no thread is followed with, also if they were prefetched. What some thread may still be in is kept;
 * returns how many pieces these are.
 */
size_t gait_stalker_collect(struct gait_stalker *stalker);

/* Hands all events of the calling thread so far to their sink. Other threads hand over theirs when a buffer is full. */
int gait_stalker_flush(struct gait_stalker *stalker, struct gait_error *err);

/*
 * Makes another thread hand over its events so far at once, whatever it is doing: the sink has been called, on that
 * thread, when this returns. -ESRCH: it is not followed; -ETIMEDOUT: it was in a callout, probe, sink or transformer
 * for two seconds; -EPERM: another process traces it.
 */
int gait_stalker_flush_thread(struct gait_stalker *stalker, int tid, struct gait_error *err);

/* The same for all threads that are followed, the calling one too. The first error is returned after all were tried. */
int gait_stalker_flush_all(struct gait_stalker *stalker, struct gait_error *err);

/* ---- running on other threads ------------------------------------------------------------------------------------ */

/* A function to be run on another thread. Begins with its size. */
struct gait_thread_run {
    size_t size_bytes;
    /*
     * Gets the registers that the program has where it was interrupted, also of a thread that is followed: never
     * addresses of translated code. Changes to them count for nothing.
     *
     * It runs between two instructions of the program, like a signal handler, and may call what one may call: the
     * thread may have any lock, also that of malloc. It has 48 KiB of stack. Signals wait until it has returned, which
     * it must do: no longjmp, no exception, no end of the thread.
     */
    void (*function)(const struct gait_cpu_context *cpu, void *data);
    void *data;
    bool without_waiting; /* comes back when the thread is sure to run the function, not when it has returned */
    /*
     * May be NULL. Called once for each run that began: on that thread, with 0, when the function has returned; or, of
     * a run without a waiting caller, with -ESRCH by gait_stalker_collect or gait_stalker_destroy, since the thread
     * ended.
     */
    void (*done)(void *data, int result);
};

/*
 * Runs a function on another thread of this process, followed or not, whatever it is doing; a system call that it waits
 * in goes on afterwards. On the calling thread itself it runs at once, with the registers inside of this function.
 *
 * -ESRCH: this process has no such thread, or it ended before the function returned; -ETIMEDOUT: the thread did not
 * stop within two seconds, or was in functions of the user's as long, a callout for one: so two threads that run
 * something on each other in callouts wait for nothing; -EPERM, -EACCES: another process traces it; -EINVAL: no
 * function, or fields that are not known; -ENOMEM. The thread must not be followed by another stalker than this one.
 */
int gait_stalker_run_on_thread(struct gait_stalker *stalker, int tid, const struct gait_thread_run *run,
                               struct gait_error *err);

/* ---- the engine itself ------------------------------------------------------------------------------------------- */

/* Why a thread entered the engine. */
enum gait_entry {
    GAIT_ENTRY_BEGIN = 1,     /* it begins to be followed, or a callout sent it elsewhere */
    GAIT_ENTRY_BRANCH,        /* a branch whose target was not linked */
    GAIT_ENTRY_INDIRECT,      /* an indirect branch whose target was not known */
    GAIT_ENTRY_SYSTEM_CALL,   /* one that the engine has a part in */
    GAIT_ENTRY_EVENTS,        /* its buffer is full */
    GAIT_ENTRY_CHANGED,       /* code is not what it was */
    GAIT_ENTRY_EXCLUSION,     /* into excluded code, or out of it */
    GAIT_ENTRY_NATIVE_RETURN, /* a function of this header is done */
    GAIT_ENTRY_LEAVE          /* what comes next cannot be followed */
};

/*
 * Is notified of what the engine does; functions may be NULL. `translated` and `linked` are called while the engine
 * holds a lock: they must not call this header's functions. Translation is not always for the thread that needs it
 * first.
 */
struct gait_observer {
    void (*entered)(void *context, enum gait_entry why, uint32_t tid);
    void (*translated)(void *context, uint64_t start, uint64_t end);
    void (*linked)(void *context, uint64_t from_block, uint64_t to_block);
    void *context;
};

/* From now on; NULL: none. The observer must stay good until all threads are unfollowed. */
void gait_stalker_set_observer(struct gait_stalker *stalker, const struct gait_observer *observer);

/* ---- looking at translations ------------------------------------------------------------------------------------- */

/* A block and what became of it, without what runs rarely, which is elsewhere. */
struct gait_translation {
    size_t size_bytes;
    uint64_t start; /* of the block in the program */
    uint64_t original_bytes;
    const void *code; /* readable until it is forgotten and collected */
    uint64_t code_bytes;
};

/*
 * Finds where the translation of the block that begins at an address is, for threads that are followed that way; of the
 * options only events and transformer count. translation_out needs its size_bytes set. -ENOENT: there is none;
 * gait_stalker_prefetch makes one.
 */
int gait_stalker_find_translation(struct gait_stalker *stalker, const struct gait_follow_options *options,
                                  uint64_t address, struct gait_translation *translation_out, struct gait_error *err);

/*
 * Finds where the program is, or goes on, when a thread is at an address in translated code: what stands there is for
 * the instruction at *address_out. -ENOENT: that is not known without the thread's registers, or it is no such code.
 */
int gait_stalker_original_address(struct gait_stalker *stalker, const struct gait_follow_options *options,
                                  uint64_t code_address, uint64_t *address_out, struct gait_error *err);

/* ---- figures ----------------------------------------------------------------------------------------------------- */

struct gait_stalker_statistics {
    size_t size_bytes;
    uint64_t threads;          /* followed now */
    uint64_t blocks;           /* translated now */
    uint64_t code_bytes;       /* of translations */
    uint64_t memory_bytes;     /* all that the engine uses for them: code, records, maps, tables */
    uint64_t event_bytes_lost; /* of event records, 4 to 32 bytes each, that no sink got */
};

int gait_stalker_read_statistics(struct gait_stalker *stalker, struct gait_stalker_statistics *statistics_out,
                                 struct gait_error *err);

#ifdef __cplusplus
}
#endif

#endif
