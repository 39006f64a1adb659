/* SPDX-License-Identifier: MIT */
/*
 * A program that is compiled for a test, so that it can be stripped, replaced and deleted: functions called first,
 * second and main, and a call of puts. Ends the program as skipped if there is no compiler.
 */
#ifndef GAIT_TESTS_MOVABLE_PROGRAM_H
#define GAIT_TESTS_MOVABLE_PROGRAM_H

#include "trace/modules.h"

#include <stdint.h>

struct movable_program {
    char path[128];
    struct recorded_module module; /* as it would be mapped; the path is that above */
};

/* Compiles it to FOLDER/NAME; flags are the compiler's, as "-g -Wl,--build-id=none". */
void movable_program_make(struct movable_program *program, const char *folder, const char *name, const char *flags);

/* Runs a command of the shell in a folder. False: it failed. */
bool movable_program_run(const char *folder, const char *command);

/* The address in the module of a function, as nm has it. Ends the program if there is none. */
uint64_t movable_program_address(const struct movable_program *program, const char *function);

#endif
