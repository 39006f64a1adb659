/* SPDX-License-Identifier: MIT */
/* A C++ program with much put into each other, built in a temporary folder, and what addr2line says of it. */
#ifndef GAIT_TESTS_BUILT_PROGRAM_H
#define GAIT_TESTS_BUILT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbolizer_options;

struct built_program {
    char folder[64];
    uint64_t *addresses; /* of all functions of "plain" */
    size_t count;
};

/* Makes the folder and writes part.cc, main.cc and part.h; ends the program as skipped if there is no compiler. */
void built_program_init(struct built_program *program);
/* Removes it, with all that is in it. */
void built_program_deinit(struct built_program *program);

/* Runs a command of the shell in the folder. */
bool built_program_run(const struct built_program *program, const char *command);

/* The path of a file in it; stays until the next but three. */
const char *built_program_path(const struct built_program *program, const char *name);

/* Takes the addresses to be looked up from the symbols of a file in it. */
void built_program_take_addresses(struct built_program *program, const char *name);

/* Lets the tool (addr2line, llvm-addr2line) look the addresses up in a file; what it says goes to another. */
bool built_program_ask(const struct built_program *program, const char *tool, const char *name, const char *answer);

enum built_program_strictness {
    COMPARE_ALL,
    COMPARE_LINES,   /* files and lines, not functions: tools differ in how they spell those */
    COMPARE_NUMBERS, /* functions and numbers of lines, not files: binutils 2.40 gets some of DWARF 5 wrong */
};

/*
 * How many of the addresses the symbolizer sees otherwise in a file than the answer has it; says so for the first ones.
 * Names of files without lines are not compared. Where debug information has a short name only, one that says more is
 * as good; and addr2line gives the name of the symbol to what was put into it, which is let pass.
 */
size_t built_program_compare(const struct built_program *program, const char *name, const char *answer,
                             const struct symbolizer_options *options, enum built_program_strictness strictness);

#endif
