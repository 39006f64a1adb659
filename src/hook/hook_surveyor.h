/* SPDX-License-Identifier: MIT */
/*
 * What plans of hooks need of a CPU: the contract that arch/<cpu>/hook fulfils, and what it finds here for that. A line
 * in surveyors.def and a `const struct hook_surveyor surveyor_<cpu>` make functions of a CPU hookable. No libc; usable
 * inside the target, one thread a planner.
 */
#ifndef GAIT_HOOK_HOOK_SURVEYOR_H
#define GAIT_HOOK_HOOK_SURVEYOR_H

#include "hook/hook_plan.h"

/* Code that is looked at: bytes of a span, or a part of it. */
struct hook_code {
    const uint8_t *bytes;
    uint64_t start;
    uint64_t end;
    uint64_t readable_end; /* of the span: an instruction may reach over the end */
};

struct hook_surveyor {
    unsigned machine; /* EM_* */

    /* Marks all places that the code leads to or points at. */
    void (*survey)(struct hook_planner *planner, const struct hook_code *code);

    /*
     * Whether the code may lead to, or have the address of, a place that is near to what is planned, other than known
     * starts; or has a table of jumps. What takes long to know is said to be so. NULL: all code is looked at.
     */
    bool (*may_matter)(const struct hook_planner *planner, const struct hook_code *code);

    /* Says where code may make system calls, by hook_planner_add_near(); too many do no harm. NULL: as above. */
    void (*mark_system_calls)(struct hook_planner *planner, const struct hook_code *code);

    /* Plans a function that is mapped and no part of one; the plan has its address and is impossible so far. */
    void (*plan)(struct hook_planner *planner, const struct elf_function *function, struct hook_plan *plan);

    /* Plans all system calls in the code: as hook_planner_find_system_calls. */
    void (*find_system_calls)(struct hook_planner *planner, const struct hook_code *code, hook_system_call_taker take,
                              void *context);
};

/* NULL: functions of that CPU cannot be hooked yet. */
const struct hook_surveyor *hook_surveyor_by_machine(unsigned machine);

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
