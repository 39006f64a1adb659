/* SPDX-License-Identifier: MIT */
/*
 * What the CPU did with a piece of code, instruction by instruction: the state before each one, and how it ended. This
 * is what everything that follows code is held against.
 *
 * What single-stepping shows of itself is taken out: the trap flag that pushf stores, and the steps of one rep
 * instruction but the first.
 */
#ifndef GAIT_TESTS_STEP_LIST_H
#define GAIT_TESTS_STEP_LIST_H

#include "arch/x86_64/isa/decoder.h"
#include "support/code_runner.h"

#define STEP_LIST_ROOM 4096

/* An instruction that is about to run. */
struct step {
    uint64_t rip;
    uint64_t rflags;
    uint64_t gpr[X86_GPR_COUNT];
    uint64_t undefined; /* flags that the instructions before left undefined; depends on what the CPU did before them */
};

struct step_list {
    struct arena_span code;          /* what is decoded; steps elsewhere have no instruction */
    const struct arena_span *memory; /* all that the code may touch; elsewhere it may fault, not find something */
    size_t memory_count;
    size_t limit; /* of steps, at most STEP_LIST_ROOM */
    size_t count;
    bool is_fit; /* all that ran does the same each time, and the list has all of it */
    struct step steps[STEP_LIST_ROOM];
    struct x86_insn insns[STEP_LIST_ROOM]; /* length 0: there is none */
};

/* Empties the list. The caller has filled in the members before `limit` and that. */
void step_list_begin(struct step_list *list);

/*
 * Runs the code from the state to its next signal and adds its steps. When the list is not fit, the run was ended:
 * it used a flag that is undefined or memory of somebody else, or did what is not the same each time.
 */
void step_list_run(struct step_list *list, struct code_runner *runner, const struct machine_state *initial,
                   struct run_result *result);

/* The flags that belong to the program. */
#define STEP_FLAGS (~(uint64_t)(X86_FLAG_RF | X86_FLAG_TF))

/* Prints a step, and which of its registers differ from another one's, or all of them if that is NULL. */
void step_print(const struct step *step, const struct step *other);

/* Whether registers, pc and flags are those of the expected step, but for flags that are undefined there. */
bool step_equal(const struct step *expected, const struct step *actual);

#endif
