/* SPDX-License-Identifier: MIT */
/*
 * What following threads and hooking functions need of a CPU: one contract, a struct for each concern. All of it that
 * does not have to run on the CPU is here, so that a CPU's part is built and tested on every machine; what has to is
 * declared in the headers of stalker/ and hook/ that say "in arch/<cpu>/host", and none/host/no_engine.c answers for a
 * CPU that lacks a part of it. docs/howto/add_architecture.md says what to write in which order.
 *
 * Usable inside the target: no libc, no state.
 */
#ifndef GAIT_ARCH_ENGINE_H
#define GAIT_ARCH_ENGINE_H

#include "arch/arch.h"
#include "base/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block;
struct block_exit;
struct callout;
struct cold_piece;
struct code_writer;
struct elf_function;
struct gait_cpu_context;
struct hook_code;
struct hook_instruction;
struct hook_plan;
struct hook_planner;
struct hook_return_use;
struct hook_stub;
struct hook_stub_request;
struct indirect_form;
struct signal_copy;
struct system_call;
struct system_call_frame;
struct system_call_stub;
struct system_call_stub_request;
struct thread_registers;
struct translation;

/*
 * Writing translated code. All functions write through the translation's writers, whose overflow is sticky, and are
 * called under the cache's lock. What may be patched lies in one aligned word of 8 bytes.
 */
struct engine_emit {
    size_t draft_bytes;         /* of a struct that begins with a struct block_draft, for what is decoded */
    unsigned branch_bytes;      /* from an exit's place to behind its branch */
    unsigned placeholder_bytes; /* that are patched at the place of an exit of BLOCK_EXIT_ADJACENT */
    unsigned stub_bytes;
    const struct indirect_form *indirect; /* how code looks into the table of indirect branches */

    /* Functions that the kernel provides at fixed addresses where nobody can read: they end with a 0. May be NULL. */
    const uint64_t *unreadable_functions;

    /* Decodes the block that begins at block->start: sets its size and number of instructions, and plans its events. */
    void (*decode)(struct translation *translation);

    unsigned (*insn_length)(const struct translation *translation, unsigned which);

    /* Writes the check that the decoded block is still what stands in the program. */
    void (*put_source_check)(struct translation *translation);

    /*
     * Writes a landing: the check that an indirect branch leads to the block's start, behind which the registers are
     * the program's. Of the block under way, before its entry; or as a piece in cold memory.
     */
    void (*put_landing)(struct translation *translation, struct cold_piece *piece, const struct block *block);

    /* Writes instruction number `which`, with all that following it takes. */
    void (*put)(struct translation *translation, unsigned which);

    /* The same for all of them, one behind the other. */
    void (*put_all)(struct translation *translation);

    /* Writes the call of a native function, and with it the end of its block. */
    void (*put_native)(struct translation *translation);

    /* Write what transformers want at an original address, before it runs. */
    void (*put_callout)(struct translation *translation, const struct callout *callout);
    void (*put_code)(struct translation *translation, struct app_pc pc, const void *code, size_t size_bytes);
    void (*put_count)(struct translation *translation, struct app_pc pc, uint64_t *counter);
    void (*put_return)(struct translation *translation, struct app_pc pc);

    /* Writes the counts that wait; `flags_free`: the flags are lost at that address. */
    void (*put_counts)(struct translation *translation, struct app_pc pc, bool flags_free);

    /* Puts the position of events into its register, where there are any; nothing if it is there already. */
    void (*take_position)(struct translation *translation);

    /*
     * Writes what the event plan had for places that a transformer left out, before the instruction that ends the
     * block, of that flow, or where the block goes on, ARCH_FLOW_NEXT. Needs the position in its register.
     */
    void (*put_events_at_end)(struct translation *translation, struct app_pc pc, enum arch_flow flow);

    /* Writes a branch to exit number `which`, of an enum block_exit_kind, and its stub unless it is adjacent. */
    void (*put_exit)(struct translation *translation, unsigned which, unsigned kind, struct app_pc target);

    /* Writes a stub, which leaves through the gate and says that number of an exit. */
    void (*put_stub)(struct code_writer *writer, uint32_t number);

    /* Write jumps in cold memory: to code of the same slab, and to any place, at most BLOCK_FAR_JUMP_BYTES long. */
    void (*put_jump)(struct code_writer *writer, struct cache_pc to);
    void (*put_far_jump)(struct code_writer *writer, struct cache_pc to);

    /* Whether an exit's branch can go there itself; and the bytes at the exit's place for which it does. */
    bool (*branch_reaches)(const struct block_exit *exit, struct cache_pc to);
    uint64_t (*make_branch)(const struct block_exit *exit, struct cache_pc to);

    /*
     * Writes code that makes the system call in the registers and comes back through stalker_gate_called; a child,
     * which gets 0, goes on natively at `next`, with that thread base.
     */
    void (*put_call_piece)(struct code_writer *writer, struct app_pc next, uint64_t thread_base);
};

/*
 * Where in the program a place in translated code stands: what stalker/trail.h has to know of the CPU for that.
 * Registers are numbers in a gait_cpu_context. Signal-safe.
 */
struct engine_place {
    unsigned sp_register;
    unsigned position_register; /* where the position of events is, where there are any */
    unsigned target_register;   /* where the target of an indirect branch is while that is under way */
    unsigned pc_register;       /* that some instructions leave the pc in; of trail_state.is_pc_register */

    /*
     * At a landing, which finds out by steps whether it is the one of the target: the target, from what its register
     * holds at an offset from where that begins; and the number of the first exit of the block that the branch ends.
     */
    uint64_t (*landing_target)(struct app_pc start, uint32_t offset, uint64_t held);
    uint32_t (*landing_source)(const struct gait_cpu_context *cpu);

    /* Whether the CPU refuses to go to an address, and raises its signal at the branch that leads there. */
    bool (*refuses)(uint64_t target);
};

/* What is to be done with a system call by another convention. */
enum foreign_call {
    FOREIGN_CALL_PLAIN, /* it is made where it is */
    FOREIGN_CALL_SAME,  /* what is done with one of the program's own convention */
    FOREIGN_CALL_LEAVE, /* nobody knows how to follow a thread through it */
};

/* Registers in their roles, beyond what gait/cpu_context.h says of them. */
struct engine_registers {
    unsigned call_slot_bytes; /* of the return address that a call leaves on the stack; 0: it is in a register */

    /* Where the program goes on behind the system call at a pc. */
    struct app_pc (*system_call_next)(const struct gait_cpu_context *cpu);

    /* The system call that a thread is about to make, and how it goes on behind it with a result. */
    void (*system_call_get)(const struct gait_cpu_context *cpu, struct system_call *call_out);
    void (*system_call_done)(struct gait_cpu_context *cpu, long result);

    /*
     * The same by the convention of other programs, of 32 bits, where there is one; NULL: there is none. What the call
     * is by the program's own, if the engine has a part in it. Behind one that was made as that, registers which its
     * instruction leaves alone are as before.
     */
    enum foreign_call (*foreign_call_get)(const struct gait_cpu_context *cpu, struct system_call *call_out);
    void (*foreign_call_keep)(struct gait_cpu_context *cpu, const struct gait_cpu_context *before);
    uint32_t architecture; /* as signals and filters name whose convention it is */
    uint32_t foreign_architecture;

    /* Behind the instruction: what the kernel answered, and where that is, as it says itself. */
    long (*system_call_result)(const struct gait_cpu_context *cpu);
    struct app_pc (*system_call_behind)(const struct gait_cpu_context *cpu);

    /* Between the registers of a stopped thread and a context; `thread_base` is that of the register that we use. */
    void (*get)(const struct thread_registers *registers, struct gait_cpu_context *cpu_out, uint64_t *thread_base_out);
    void (*set)(struct thread_registers *registers, const struct gait_cpu_context *cpu, uint64_t thread_base);
};

/* What the kernel writes for a signal handler, and takes back when it returns. Signal-safe. */
struct engine_frame {
    uint32_t ucontext_at; /* from the start of a frame, which is the handler's stack pointer */
    uint32_t info_at;
    uint32_t mask_at; /* from the start of a ucontext */
    uint32_t stack_at;
    uint32_t red_zone_bytes; /* below its stack pointer, that a program may use */

    /* Between the registers in a ucontext and a context. */
    void (*get)(const void *ucontext, struct gait_cpu_context *cpu_out);
    void (*set)(void *ucontext, const struct gait_cpu_context *cpu);

    /* Whether the thread goes on step by step, with a trap behind each instruction; and that it does so no more. */
    bool (*steps)(const struct gait_cpu_context *cpu);
    void (*end_steps)(struct gait_cpu_context *cpu);

    /* Whether the CPU makes one step of the instruction at `from` and the one behind it, and cpu is between them. */
    bool (*is_between)(const struct gait_cpu_context *cpu, uint64_t from);

    /* Sets where a copy goes if it is put below an address; and writes it there. */
    void (*place)(struct signal_copy *copy, uint64_t below);
    void (*write)(const struct signal_copy *copy);

    /* The registers that a handler begins with, when those before the signal are in `cpu`. */
    void (*enter)(const struct signal_copy *copy, int signal, uint64_t handler, struct gait_cpu_context *cpu);
};

/* How many bytes patches have, and from behind a short jump how far it leads, back and forth. 0: there is none. */
struct engine_patch_sizes {
    unsigned jump;
    unsigned hop;
    unsigned trap;
    unsigned hop_reach_back;
    unsigned hop_reach;
    unsigned entry; /* what a hook of a function needs of its first bytes at most: a landing mark, and a jump */
};

/* No patch, of one place, is longer on any CPU. */
#define REDIRECT_BYTES_MAX 16

/* What a patch writes, at one place or at two. */
struct redirect {
    uint8_t bytes[REDIRECT_BYTES_MAX]; /* plan.patch_bytes at plan.patch_at */
    uint8_t hop[REDIRECT_BYTES_MAX];   /* plan.hop_bytes at plan.hop_at */
};

/* The gates that a stub is to call: addresses of hook_gate.h, or others in tests. */
struct hook_stub_gates {
    uint64_t enter; /* of one whose return is not seen: the only one */
    uint64_t leave;
};

/* Planning patches of code, which may be that of another machine, and writing them and what they lead to. */
struct engine_hook {
    struct engine_patch_sizes sizes;
    unsigned system_call_bytes;  /* of the instruction that makes a system call */
    unsigned goroutine_register; /* that points to the goroutine in functions of Go which check the stack */

    /* Marks all places that the code leads to or points at, by hook_planner_add_target() and its like. */
    void (*survey)(struct hook_planner *planner, const struct hook_code *code);

    /*
     * Whether the code may lead to, or have the address of, a place that is near to what is planned, other than known
     * starts; or has a table of jumps. What takes long to know is answered with true. NULL: all code is looked at.
     */
    bool (*may_matter)(const struct hook_planner *planner, const struct hook_code *code);

    /*
     * The next place in the code, from an address on, that may be an instruction that makes a system call; or its end.
     * Quick: hardly any code makes system calls.
     */
    uint64_t (*next_system_call)(const struct hook_code *code, uint64_t from);

    /* Whether others know a system call by its bytes and those of the instruction before: a signal handler's return. */
    bool (*is_known_call)(const struct hook_code *code, uint64_t before, uint64_t at);

    /* The instruction at an address in the code. False: none that ends there, too. */
    bool (*look)(const struct hook_planner *planner, const struct hook_code *code, uint64_t at,
                 struct hook_instruction *instruction_out);

    /* Looks at all instructions of a function for what it does with its return address; it has a plan. */
    void (*find_return_use)(const struct hook_planner *planner, const struct elf_function *function,
                            const struct hook_plan *plan, struct hook_return_use *use_out);

    /*
     * Behind the check for room on the stack that a function begins with, whose code it is: where there is not enough,
     * it has the stack moved, and begins again. Its start: it has none.
     */
    uint64_t (*find_stack_check)(const struct hook_planner *planner, const struct hook_code *code,
                                 uint64_t function_end);

    /* The bytes of a patch. -ERANGE: the target cannot be reached from there; -EINVAL: not a method of this CPU. */
    int (*make_redirect)(const struct hook_plan *plan, uint64_t target, struct redirect *redirect_out);

    /* Whether a jump or a call at an address can lead to another one by itself. */
    bool (*reaches)(uint64_t from, uint64_t target);

    /* Writes a jump to any address at all, at most REDIRECT_BYTES_MAX long, that takes no register. */
    void (*put_jump)(struct code_writer *writer, uint64_t target);

    /*
     * Writes a stub, and where its knowledge is, laid out as the CPU's stub_layout.h has it. Targets that are out of
     * reach are the writer's sticky overflow.
     */
    void (*put_stub)(struct code_writer *writer, const struct hook_stub_request *request,
                     const struct hook_stub_gates *gates, struct hook_stub *stub_out);

    /* Writes the stub of a patched system call. */
    void (*put_system_call_stub)(struct code_writer *writer, const struct system_call_stub_request *request,
                                 struct system_call_stub *stub_out);

    /* The registers of system_call_stub_context(). */
    void (*system_call_context)(const struct system_call_frame *frame, struct gait_cpu_context *context_out);
};

struct engine {
    const struct engine_emit *emit;
    const struct engine_place *place;
    const struct engine_registers *registers;
    const struct engine_frame *frame;
    const struct engine_hook *hook;
};

/* That of the CPU that this program runs on; NULL: gait cannot follow threads or hook functions on it yet. */
const struct engine *engine_host(void);

/* NULL: no machine that gait knows, or none whose code can be patched. */
const struct engine *engine_by_elf_machine(unsigned machine);

#endif
