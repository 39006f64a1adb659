/* SPDX-License-Identifier: MIT */
/* What descriptors of other processes are. Callable from any thread. */
#ifndef GAIT_SYSCALLS_PROCESS_FD_H
#define GAIT_SYSCALLS_PROCESS_FD_H

#include "base/text_format.h"

/* Writes "</etc/passwd>", or nothing if that is not to be known; AT_FDCWD is the process's folder. */
void process_fd_put(struct text_writer *out, int pid, int fd);

#endif
