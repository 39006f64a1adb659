/* SPDX-License-Identifier: MIT */
/*
 * The files that a process consists of, or will: of one that runs, what is mapped to be executed; of a program that is
 * yet to run, its file and the libraries that it says it needs, where they are likely to be found. A guess that is
 * wrong does no harm. One thread at a time.
 */
#ifndef GAIT_SYMBOLIZE_PROGRAM_FILES_H
#define GAIT_SYMBOLIZE_PROGRAM_FILES_H

#include "base/attributes.h"

#include <stddef.h>
#include <sys/types.h>

#define PROGRAM_FILES_MAX 256

struct program_files {
    char *paths[PROGRAM_FILES_MAX]; /* without links; the first one is the program itself */
    size_t count;
};

/* Of what a shell would run by that name. Both: -ENOENT: there is no such program, or process. */
MUST_USE int program_files_of_program(const char *name, struct program_files *files_out);
MUST_USE int program_files_of_process(pid_t pid, struct program_files *files_out);

void program_files_deinit(struct program_files *files);

#endif
