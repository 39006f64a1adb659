/* SPDX-License-Identifier: MIT */
/*
 * What the stalker needs of a CPU: the contract that arch/<cpu>/stalker fulfils. All functions write through the
 * translation's writers, whose overflow is sticky, and are called under the cache's lock. Usable inside the target.
 */
#ifndef GAIT_STALKER_TRANSLATOR_H
#define GAIT_STALKER_TRANSLATOR_H

#include "base/address.h"
#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block;
struct code_writer;
struct block_exit;
struct code_cache;
struct callout;
struct callout_behind;
struct code_place;
struct translation;
struct stalker_thread;
struct system_call;
struct thread_registers;
struct gait_call;
struct gait_cpu_context;

struct translator {
    const char *name;
    size_t insns_bytes;         /* of translation.insns */
    unsigned position_register; /* where the position of events is, where there are any */

    /* Functions that the kernel provides at fixed addresses where nobody can read: they end with a 0. May be NULL. */
    const uint64_t *unreadable_functions;

    /* Decodes the block that begins at block->start: sets its size and number of instructions. */
    void (*decode)(struct translation *translation);

    unsigned (*insn_length)(const struct translation *translation, unsigned which);

    /* Writes what stands before the first instruction. */
    void (*open)(struct translation *translation);

    /* Writes instruction number `which`, with all that following it takes. */
    void (*put)(struct translation *translation, unsigned which);

    /* The same for all of them, one behind the other. */
    void (*put_all)(struct translation *translation);

    /* Writes the call of a native function, and with it the end of its block. */
    void (*put_native)(struct translation *translation);

    /* The block under way ends behind its first insn_count instructions. */
    void (*cut)(struct translation *translation);

    /* Write what transformers want at an original address, before it runs. */
    void (*put_callout)(struct translation *translation, const struct callout *callout);
    void (*put_code)(struct translation *translation, struct app_pc pc, const void *code, size_t size_bytes);
    void (*put_count)(struct translation *translation, struct app_pc pc, uint64_t *counter);
    void (*put_return)(struct translation *translation, struct app_pc pc);

    /* Writes how the block ends when nothing put so far ends it: it goes on to what follows. */
    void (*close)(struct translation *translation);

    /*
     * Writes code that makes the system call in the registers and comes back through stalker_gate_called; a child,
     * which gets 0, goes on natively at `next`, with that segment base.
     */
    void (*put_call_piece)(struct code_writer *writer, struct app_pc next, uint64_t segment_base);

    /* Where the program goes on behind the system call at a pc. */
    struct app_pc (*system_call_next)(const struct gait_cpu_context *cpu);

    /* The system call that a thread is about to make, and how it goes on behind it with a result. */
    void (*system_call_get)(const struct gait_cpu_context *cpu, struct system_call *call_out);
    void (*system_call_done)(struct gait_cpu_context *cpu, long result);
    /* Behind the instruction: what the kernel answered, and where that is, as it says itself. */
    long (*system_call_result)(const struct gait_cpu_context *cpu);
    struct app_pc (*system_call_behind)(const struct gait_cpu_context *cpu);

    /*
     * Turns the registers that a thread has at a place in translated code, the pc included, into the program's.
     * Signal-safe. -ENOENT: nothing is known of that place; the engine is met behind it.
     */
    MUST_USE int (*recover)(struct stalker_thread *thread, const struct code_place *place,
                            struct gait_cpu_context *cpu);

    /* How many callouts at the program's pc, and pieces of code put there, are done at a place. Signal-safe. */
    uint8_t (*callouts_done_at)(const struct code_place *place, struct cache_pc pc);

    /*
     * Where a block can be entered at its start with behind->done of them done, and whether it is told by then that the
     * block runs. False: nowhere.
     */
    bool (*find_behind)(const struct code_place *place, struct callout_behind *behind, bool *is_told_out);

    /*
     * A thread is on its way to cpu->pc by the indirect branch that ends the block of its `exit`, with all registers as
     * they are behind it. Where the CPU refuses to go there: puts them, the pc included, back to before the branch, and
     * returns true. Signal-safe.
     */
    bool (*refuse_branch)(const struct stalker_thread *thread, struct gait_cpu_context *cpu);

    /* Between the registers of a stopped thread and a context; `segment_base` is that of the register that we use. */
    void (*registers_get)(const struct thread_registers *registers, struct gait_cpu_context *cpu_out,
                          uint64_t *segment_base_out);
    void (*registers_set)(struct thread_registers *registers, const struct gait_cpu_context *cpu,
                          uint64_t segment_base);

    uint64_t (*stack_pointer)(const struct gait_cpu_context *cpu);
    void (*set_stack_pointer)(struct gait_cpu_context *cpu, uint64_t sp);

    /* A call that just entered a function. */
    void (*call_get)(struct gait_cpu_context *cpu, struct gait_call *call_out);

    /* The six registers in which a call may have arguments, and the one in which it may have returned something. */
    void (*call_arguments)(const struct gait_cpu_context *cpu, uint64_t arguments_out[6]);
    uint64_t (*call_value)(const struct gait_cpu_context *cpu);

    /* Writes a landing for a block that has none, in the cold memory. Sets block->landing. */
    void (*put_landing)(struct translation *translation, struct block *block);

    /* Makes an exit's branch go to the block `to`, or back to its stub for NULL. -ENOSPC: no room for a far jump. */
    MUST_USE int (*link)(const struct code_cache *cache, struct block_exit *exit, const struct block *to);
};

/* The one of this machine; NULL: gait cannot follow threads on it yet. */
const struct translator *translator_host(void);

/* Addresses of the gates in arch/<cpu>/host. */
void stalker_gate_exit(void);
void stalker_gate_begin(void);
void stalker_gate_events(void);
void stalker_gate_changed(void);
void stalker_gate_called(void);
void stalker_gate_quiet_end(void);
void stalker_gate_callout(void);
void stalker_gate_callout_with_position(void);
void stalker_leave(void);
void stalker_leave_with_position(void);
void stalker_enter(void);
void stalker_enter_with_position(void);
void stalker_gate_indirect(void);

/* Fills in the registers as they are in the caller when this has returned. In arch/<cpu>/host. */
void stalker_capture(struct gait_cpu_context *cpu_out);

/* Sets and gets the register that translated code finds its thread with. In arch/<cpu>/host. */
void stalker_segment_set(uint64_t base);

/*
 * A system call of the program's that concerns that register: done for it, without disturbing us. False: it concerns
 * something else.
 */
bool stalker_segment_call(struct stalker_thread *thread, const struct system_call *call, long *result_out);

/*
 * Makes the system call in the parent's context, which makes a thread; that thread begins in the engine, as `child`.
 * Returns what the parent gets.
 */
long stalker_clone(struct stalker_thread *parent, struct stalker_thread *child);

/* Where that call returns to. */
extern const char stalker_clone_called[] __attribute__((visibility("hidden")));
uint64_t stalker_segment_get(void);

#endif
