/* SPDX-License-Identifier: MIT */
/*
 * Between plans of hooks and a CPU: what is known of code and instructions, and what those functions of struct
 * engine_hook that look at code find here. No libc; usable inside the target, one thread a planner.
 */
#ifndef GAIT_HOOK_HOOK_PLANNER_H
#define GAIT_HOOK_HOOK_PLANNER_H

#include "hook/hook_plan.h"

/* Code that is looked at: bytes of a span, or a part of it. */
struct hook_code {
    const uint8_t *bytes;
    uint64_t start;
    uint64_t end;
    uint64_t readable_end; /* of the span: an instruction may reach over the end */
};

/* What plans ask of an instruction. */
enum hook_instruction_flag {
    HOOK_INSTRUCTION_GOES_ON = 1,        /* to the next one, at once or some time */
    HOOK_INSTRUCTION_COMES_BACK = 2,     /* something returns behind it: a call, a system call */
    HOOK_INSTRUCTION_IS_MOVABLE = 4,     /* the relocator takes it, wherever the copy is */
    HOOK_INSTRUCTION_JUMPS_ANYWHERE = 8, /* to where a register or memory says */
    HOOK_INSTRUCTION_IS_END = 16,        /* compilers put nothing behind it but padding and what is jumped to */
    HOOK_INSTRUCTION_IS_FILLER = 32,     /* as between functions, executed by nobody if nothing goes there */
    HOOK_INSTRUCTION_IS_TRAP = 64,       /* as HOOK_TRAP writes one */
    HOOK_INSTRUCTION_IS_MARK = 128,      /* where indirect branches must come by */
    HOOK_INSTRUCTION_IS_COPYABLE = 256,  /* its bytes do the same anywhere, and what is next comes next */
    HOOK_INSTRUCTION_IS_RETURN = 512,    /* its bytes do the same anywhere, and nothing comes next */
    HOOK_INSTRUCTION_IS_CALL = 1024,     /* of the system */
    HOOK_INSTRUCTION_STAYS_HOME = 2048,  /* it touches registers and the stack only, so it cannot fault */
};

struct hook_instruction {
    unsigned length;
    unsigned flags; /* enum hook_instruction_flag */
};

struct hook_return_use {
    bool is_used;       /* it reads, writes or pops its return address, or has none when it starts */
    bool goes_to_entry; /* a branch of its own leads to where it starts or is patched, and is not displaced with that */
};

/* Marks where a branch leads to within the code that is looked at. */
void hook_planner_add_target(struct hook_planner *planner, uint64_t address);

/* The same of a branch that leaves it. */
void hook_planner_add_entry(struct hook_planner *planner, uint64_t address, bool is_conditional);

/* Marks what plans of something at an address look at; and whether an address is among that. */
void hook_planner_add_near(struct hook_planner *planner, uint64_t address);
bool hook_planner_is_near(const struct hook_planner *planner, uint64_t address);

/* The code from an address to the end of its span. False: it is in none. */
bool hook_planner_code(const struct hook_planner *planner, uint64_t address, struct hook_code *code_out);

/* Reads bytes of any span. False: they are in none. */
bool hook_planner_read(const struct hook_planner *planner, uint64_t address, void *bytes_out, size_t size_bytes);

/* Whether somebody goes to, or a plan has, one of the bytes in [start, end), or they are in no code. */
bool hook_planner_is_taken(const struct hook_planner *planner, uint64_t start, uint64_t end);

/* Whether other code than theirs goes to one of the bytes in [start, end), which are code, or has their address. */
bool hook_planner_is_entered(const struct hook_planner *planner, uint64_t start, uint64_t end);

/* Gives bytes in [start, end) to a plan, which are not taken; or takes them back. */
void hook_planner_take(struct hook_planner *planner, uint64_t start, uint64_t end);
void hook_planner_give_back(struct hook_planner *planner, uint64_t start, uint64_t end);

/* Where the next function, part or label starts behind an address, or its span ends. */
uint64_t hook_planner_next_start(const struct hook_planner *planner, uint64_t address);

/* Where a function ends: by its size, else at the next start. */
uint64_t hook_planner_function_end(const struct hook_planner *planner, const struct elf_function *function);

#endif
