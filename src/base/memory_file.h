/* SPDX-License-Identifier: MIT */
/*
 * A file without a name that lives in memory (memfd): what several mappings, or several processes, share. The
 * descriptor is the caller's and closes on exec; mappings outlive it. Raw system calls, no locks: callable from any
 * thread, in signal handlers and inside the target.
 */
#ifndef GAIT_BASE_MEMORY_FILE_H
#define GAIT_BASE_MEMORY_FILE_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Creates a file of size_bytes zeroes. `label` is only shown in /proc. With `executable` the system is asked to let
 * mappings of it be executable; whether they may is known when one is mapped. -EACCES, -EPERM, -ENOSYS: the system has
 * no such files for us; -EMFILE, -ENFILE: no descriptor left; -ENOMEM.
 */
MUST_USE int memory_file_create(const char *label, size_t size_bytes, bool executable, int *fd_out);

/* Keeps the file from getting shorter, whoever has it: then a mapping of it never loses its memory. -EPERM, -EINVAL. */
MUST_USE int memory_file_seal_size(int fd);

/* Whether that was done. */
bool memory_file_is_sealed(int fd);

/* The file's size; negative: -EBADF and the like. */
MUST_USE long memory_file_bytes(int fd);

/* Closes the descriptor. */
void memory_file_close(int fd);

#endif
