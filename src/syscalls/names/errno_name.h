/* SPDX-License-Identifier: MIT */
/* Errors by name, also those that the kernel keeps to itself but shows to tracers. Constant; any thread. */
#ifndef GAIT_SYSCALLS_NAMES_ERRNO_NAME_H
#define GAIT_SYSCALLS_NAMES_ERRNO_NAME_H

/* "ENOENT", or NULL. */
const char *errno_name(int number);

/* "No such file or directory"; NULL if there is no such number. */
const char *errno_meaning(int number);

/* The number of that name (or text of a number), or -1. */
int errno_by_name(const char *name);

#endif
