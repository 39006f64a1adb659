/* SPDX-License-Identifier: MIT */
/*
 * Random programs of some blocks each, for whoever translates control flow: blocks of random instructions, joined by
 * branches, calls and returns of every kind, to each other, back, and sometimes into the middle of an instruction. Most
 * instructions find the memory that they need; some fault. Loops end because blocks use up fuel. Addresses are below 2
 * GiB.
 */
#ifndef GAIT_TESTS_RANDOM_PROGRAM_H
#define GAIT_TESTS_RANDOM_PROGRAM_H

#include "support/arena.h"
#include "support/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANDOM_PROGRAM_BYTES   3072
#define RANDOM_PROGRAM_BLOCKS  10
#define RANDOM_PROGRAM_TARGETS 8

/* Memory that only the program's branches use. */
struct random_program_control {
    uint64_t targets[RANDOM_PROGRAM_TARGETS]; /* of branches through memory */
    uint64_t fuel;                            /* a program ends when it is used up */
};

struct random_program_place {
    uint64_t code;
    struct arena_span data; /* what memory operands point into */
    uint64_t control;       /* where the program expects its struct random_program_control */
    bool is_writable;       /* the program may change itself, and does so at times */
    bool traps;             /* it may contain what always raises a signal */
};

struct random_program {
    uint8_t bytes[RANDOM_PROGRAM_BYTES];
    size_t size;                          /* the last byte is an int3, the program's regular end */
    size_t blocks[RANDOM_PROGRAM_BLOCKS]; /* offsets of their first instructions */
    unsigned block_count;
    struct random_program_control control; /* as it is to be at the start */
};

/* Draws a program for the place. */
void random_program_draw(struct random_program *program, struct random *random,
                         const struct random_program_place *place);

/* The address of a block, by any number. */
uint64_t random_program_block(const struct random_program *program, const struct random_program_place *place,
                              uint64_t number);

/* Prints the program, an instruction a line. */
void random_program_print(const struct random_program *program, const struct random_program_place *place);

#endif
