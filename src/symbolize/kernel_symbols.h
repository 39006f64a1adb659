/* SPDX-License-Identifier: MIT */
/* The functions of the kernel that runs here, as /proc/kallsyms has them. */
#ifndef GAIT_SYMBOLIZE_KERNEL_SYMBOLS_H
#define GAIT_SYMBOLIZE_KERNEL_SYMBOLS_H

#include "base/attributes.h"

struct named_code;

/*
 * Reads the list at that path (NULL: the kernel's own) into an empty set, and finishes it. Names of what was loaded are
 * followed by " [module]". -EACCES: the kernel does not tell addresses to this user; -ENOENT: there is no list;
 * -ENOMEM.
 */
MUST_USE int kernel_symbols_read(struct named_code *code, const char *path);

#endif
