/* SPDX-License-Identifier: MIT */
/*
 * Whether a process has the file of a process's memory open for writing, as it may to change its own code without a
 * mapping that can be written. By its descriptors, from outside.
 */
#ifndef GAIT_INJECT_SELF_MEMORY_H
#define GAIT_INJECT_SELF_MEMORY_H

#include <stdbool.h>
#include <sys/types.h>

/* False also where it may not be read. */
bool self_memory_is_open(pid_t pid);

#endif
