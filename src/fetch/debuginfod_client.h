/* SPDX-License-Identifier: MIT */
/*
 * The client of debuginfod as its library has it, for libdw in a command that cannot load that library: the same
 * functions with the same meaning, by a program that can. Callable from any thread.
 */
#ifndef GAIT_FETCH_DEBUGINFOD_CLIENT_H
#define GAIT_FETCH_DEBUGINFOD_CLIENT_H

#include "base/attributes.h"

/* How libdw asks for the library, whatever follows in its name. */
#define DEBUGINFOD_CLIENT_LIBRARY "libdebuginfod.so."

/* The function of that library, to be called as the library has it; NULL: there is none of that name. */
void *debuginfod_client_function(const char *name);

/* What it has under the names debuginfod_begin and debuginfod_end. One client is as good as another. */
void *debuginfod_client_begin(void);
void debuginfod_client_end(void *client);

/*
 * What it has under the names debuginfod_find_debuginfo and debuginfod_find_executable: a descriptor of the file, which
 * the caller closes, and its path, which the caller frees, if it is asked for. `id_bytes` 0: the ID is hexadecimal
 * text. -ENOSYS: DEBUGINFOD_URLS names no server; -EINVAL: that is no ID; or as fetch_program_run.
 */
MUST_USE int debuginfod_client_find_debuginfo(void *client, const unsigned char *id, int id_bytes, char **path_out);
MUST_USE int debuginfod_client_find_executable(void *client, const unsigned char *id, int id_bytes, char **path_out);

#endif
