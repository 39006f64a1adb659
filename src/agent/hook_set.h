/* SPDX-License-Identifier: MIT */
/*
 * All hooks of a session: the functions that are patched, with their stubs and trampolines. Functions are added, and
 * then hooked all at once. Nobody is stopped for that: the controller holds the threads, or no thread knows the code
 * yet. One for the process; the caller sees to it that there is one call at a time.
 */
#ifndef GAIT_AGENT_HOOK_SET_H
#define GAIT_AGENT_HOOK_SET_H

#include "base/attributes.h"
#include "hook/hook_plan.h"
#include "hook/hook_stub.h"

#include <stdbool.h>
#include <stdint.h>

struct thread_registers;

#define HOOK_WISH_LISTENERS 2

struct hook_wish {
    const struct hook_plan *plan; /* with addresses as they are in memory */
    const uint8_t *expected;      /* what the displaced instructions should be */
    bool is_recorded;             /* it writes records, with this number: */
    uint32_t number;
    struct hook_listener listeners[HOOK_WISH_LISTENERS];
    uint32_t listener_count;
    bool is_probe;     /* it is an instruction in the middle of a function: only listeners */
    bool is_last;      /* it is removed last */
    bool is_goroutine; /* its returns are seen where it makes them, and it is told with its goroutine */
    bool is_exit;      /* it is one of these returns */
};

void hook_set_begin(void);

/*
 * Opens our own memory, by way of /proc, for what is added, put in place, taken away or moved until it is closed again:
 * for the shortest time, since the program could see the descriptor. -ENOENT, -EACCES, -EMFILE and others.
 */
MUST_USE int hook_set_open(void);
void hook_set_close(void);

/* Gives everything back. Nothing is patched, and nobody is in any of the code. */
void hook_set_end(void);

/*
 * Prepares a hook. -ESTALE: something else is there than what was planned for; -EINVAL: nothing that can be hooked is
 * planned; -EOPNOTSUPP: it takes a trap; -ENOMEM: no memory, or none in reach.
 */
MUST_USE int hook_set_add(const struct hook_wish *wish);

/*
 * Prepares a patch of an instruction that makes system calls: plan->address is where it is; `expected` as above. The
 * same errors.
 */
MUST_USE int hook_set_add_system_call(const struct hook_plan *plan, const uint8_t *expected);

/*
 * Makes a stub that calls a function as it is, with a listener, for who is to call that instead of the function: it can
 * be at once. Lasts as long as the set. -ENOMEM and others.
 */
MUST_USE int hook_set_make_front(uint64_t function, const struct hook_listener *listener, uint64_t *entry_out);

/* Puts all that was added in place. Errors as patch_transaction_commit: none of it is. */
MUST_USE int hook_set_commit(void);

/*
 * Patches functions back to what they were; first those whose returns may be seen, while others, which need to know of
 * that (is_last), stay for as long as there are calls under way; then these.
 */
MUST_USE int hook_set_remove(bool with_last_ones);

/* What was in that range is gone: so are its hooks. */
void hook_set_forget(uint64_t start, uint64_t end);

/* How many are in place, of functions and of system calls, without those that are removed last. */
uint32_t hook_set_count(void);

/*
 * Moves a stopped thread out of instructions that will be displaced, and does the same for what a signal handler of its
 * will return to; whether the registers have changed. The thread can go on, hooks in place or not.
 */
bool hook_set_move_in(int tid, struct thread_registers *registers);

/* The same back to the original code, for one in a trampoline, or on its way there, of a function not hooked any more.
 */
bool hook_set_move_out(int tid, struct thread_registers *registers);

/* Whether an address is in code of a hook: a stub, a trampoline, or a jump that leads there. */
bool hook_set_contains(uint64_t address);

/*
 * The instruction of the program that is at an address in a trampoline, in the stub of a system call, or in padding.
 * False: it is none of these. Signal-safe, as long as nobody changes the set.
 */
bool hook_set_find_instruction(uint64_t address, uint64_t *original_out);

/*
 * The other way: where an instruction is done that is overwritten, behind the first one. False: it is where it was.
 * Signal-safe, as long as nobody changes the set.
 */
bool hook_set_find_displaced(uint64_t address, uint64_t *copy_out);

/* Whether such an instruction, if there is one at the address, has not begun: it could be done in its own place. */
bool hook_set_is_before_instruction(uint64_t address);

/* A stub of a function. */
struct hook_stub_place {
    const struct hook_function *function; /* NULL: it is none */
    uint64_t start;                       /* where its call of the entering gate returns to */
    unsigned parts;                       /* enum hook_stub_part */
};

/* The one that an address is in. Signal-safe, as long as nobody changes the set. */
struct hook_stub_place hook_set_find_stub(uint64_t address);

/* Whether the pc of a stopped thread is there, or one that a signal handler of its will return to. */
bool hook_set_finds_pc(int tid, const struct thread_registers *registers, bool (*is_there)(uint64_t pc));

#endif
