/* SPDX-License-Identifier: MIT */
/* The program debuginfod_fetch, which the command carries, run to ask servers for a file. Callable from any thread. */
#ifndef GAIT_FETCH_FETCH_PROGRAM_H
#define GAIT_FETCH_FETCH_PROGRAM_H

#include "base/attributes.h"

/* All of the program, as a file has it. */
extern const char fetch_image[], fetch_image_end[];

/*
 * Asks for the "debuginfo" or the "executable" of a build ID, written in hexadecimal, and waits for the answer as long
 * as DEBUGINFOD_TIMEOUT and its relatives let the client. The caller frees the path. -ENOENT: nobody has it, or nobody
 * can be asked, since the client's library is not installed; -ENOMEM, -EMFILE, -EACCES and others: the program cannot
 * be run.
 */
MUST_USE int fetch_program_run(const char *kind, const char *id, char **path_out);

#endif
