/* SPDX-License-Identifier: MIT */
/*
 * How a function can be hooked: which of its bytes are overwritten by what, and which instructions have to run
 * elsewhere for that. Only bytes are looked at, of a file or of mapped code; nothing is changed.
 *
 * A planner is made once for a module. It looks at all code that may lead to what is planned, so that no branch, from
 * wherever in the module, leads into bytes that a plan overwrites, and it gives each piece of padding between functions
 * to one plan only. It is to be made before anything in the module is patched; then plans can be made at any time, also
 * of code of which other functions have been patched meanwhile.
 *
 * All addresses are those of the list of functions and of the spans; a module that is mapped elsewhere than its file
 * says is planned with spans at the file's addresses. No libc, no system calls, all memory is the caller's; one thread
 * at a time.
 */
#ifndef GAIT_HOOK_HOOK_PLAN_H
#define GAIT_HOOK_HOOK_PLAN_H

#include "base/attributes.h"
#include "elf/function_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame_rows_storage;
struct engine_hook;

enum hook_method {
    HOOK_JUMP,              /* a jump over whole instructions */
    HOOK_JUMP_INTO_PADDING, /* a jump that needs bytes behind the function, which nobody executes */
    HOOK_HOP,               /* a short jump to padding near by, which has room for the jump */
    HOOK_TRAP,              /* a breakpoint instruction */
    HOOK_IMPOSSIBLE,
};

/* Why it is not a plain jump, or impossible. A line each in hook_obstacles.def. */
enum hook_obstacle {
#define HOOK_OBSTACLE(name, text) HOOK_##name,
#include "hook/hook_obstacles.def"
#undef HOOK_OBSTACLE
};

/* A function that goes back into its first bytes is displaced as a whole, if it is no longer than this. */
#define HOOK_DISPLACED_BYTES_MAX 128

struct hook_plan {
    uint64_t address; /* of the function */
    uint64_t
        patch_at; /* the first byte that changes: there, or behind a landing mark (endbr64) or a check of the stack */
    uint64_t
        displaced_end;    /* whole instructions in [patch_at, displaced_end) run in a trampoline, which goes on here */
    uint64_t hop_at;      /* where the jump is, of HOOK_HOP; else 0 */
    uint32_t patch_bytes; /* at patch_at: of the jump, the short jump, or the trap; may end before displaced_end, or,
                             with HOOK_JUMP_INTO_PADDING, behind it */
    uint8_t hop_bytes;    /* at hop_at; else 0 */
    uint8_t method;       /* of enum hook_method */
    uint8_t obstacle;     /* of enum hook_obstacle */
    bool is_entry_only;   /* it looks at its own return address or was not called: that must stay as it is */
    bool is_checked;      /* it is patched behind a check for room on the stack, as functions of Go have it */
    bool is_loop_head;    /* the function branches to patch_at: an entry in the same frame again is no new call */
};

/* Bytes of a module that can be read. */
struct hook_span {
    const uint8_t *bytes;
    uint64_t address;
    uint64_t size_bytes;
    bool is_code;
};

#define HOOK_SPANS_MAX 16

/* What a planner works on. Everything stays the caller's and where it is while the planner is used. */
struct hook_module {
    struct hook_span spans[HOOK_SPANS_MAX]; /* code, and constants, in which tables of jumps are */
    size_t span_count;
    const struct elf_function_list *functions;
    const struct eh_frame *frame; /* NULL: there is none */
    uint64_t load_bias;           /* what pointers in the spans are larger by than the addresses here; 0 in files */
    unsigned machine;             /* EM_* */
    unsigned decode_options;      /* of host_cpu_decode_options(); 0 for files */
};

/* What of a module is going to be planned. */
struct hook_interest {
    const uint8_t *functions; /* a bit for each function of the list */
    bool has_system_calls;    /* hook_planner_find_system_calls() is going to be called */
};

struct hook_planner {
    const struct engine_hook *machine;
    const struct hook_module *module;
    uint8_t *near[HOOK_SPANS_MAX];     /* a bit for some bytes of code each: plans may look at what is marked there */
    uint64_t module_start, module_end; /* all spans are in here */
    uint8_t *taken[HOOK_SPANS_MAX];    /* a bit for each byte of code: somebody goes there, or a plan has it */
    uint8_t *called[HOOK_SPANS_MAX];   /* likewise: it is called, its address is somewhere, or others jump into it */
    uint8_t *crossed; /* a bit for each function: conditional branches of another one lead to its start */
    struct frame_rows_storage *rows;
    uint32_t stack_walkers; /* of hook_stack_walkers_find() */
    uint64_t table_budget;  /* how many entries of jump tables are still looked at: what is not trusted ends */
};

/* How many bytes of memory a planner of the module needs. */
size_t hook_planner_memory_bytes(const struct hook_module *module);

/*
 * Looks at all code of the module. `memory` is hook_planner_memory_bytes() long, zeroed, and aligned for pointers.
 * -EOPNOTSUPP: functions of that CPU cannot be hooked yet; -EINVAL: too many spans, or they overlap.
 */
MUST_USE int hook_planner_init(struct hook_planner *planner, const struct hook_module *module, void *memory);

/*
 * The same for plans of some functions, and system calls, only: code that has nothing to do with them is passed over
 * quickly.
 */
MUST_USE int hook_planner_init_for(struct hook_planner *planner, const struct hook_module *module,
                                   const struct hook_interest *interest, void *memory);

/* Says that somebody has that address of code: it may be called, and the byte is not overwritten unless it is an entry.
 */
void hook_planner_add_pointer(struct hook_planner *planner, uint64_t address);

/*
 * The same for all words of the spans without code that may be such an address; but tables of jumps have them, too, so
 * nothing is said to be called for that.
 */
void hook_planner_add_pointers(struct hook_planner *planner);

/*
 * How that function is hooked; one that is not of the module's list has been added by hook_planner_add_pointer(). What
 * cannot be, is HOOK_IMPOSSIBLE, with the obstacle. The padding that the plan needs is its own from now on: a plan that
 * is not carried out, or is undone, goes back with hook_planner_release().
 */
void hook_planner_plan(struct hook_planner *planner, const struct elf_function *function, struct hook_plan *plan_out);

/*
 * Whether it is a part of a function that is jumped to, the seldom used one as a rule: it is known to be one, or it has
 * no name, nobody calls it, it is not aligned as functions are, and others branch to it as one does within a function.
 */
bool hook_planner_is_part(const struct hook_planner *planner, const struct elf_function *function);

/* The plan for the same code at addresses that are larger by the bias. */
void hook_plan_move(struct hook_plan *plan, uint64_t bias);

void hook_planner_release(struct hook_planner *planner, const struct hook_plan *plan);

/* Texts for people: "jump", "hop"...; why not a jump: "a branch leads into its first bytes". Constants. */
const char *hook_method_name(unsigned method);
const char *hook_obstacle_text(unsigned obstacle);

#endif
