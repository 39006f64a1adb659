/* SPDX-License-Identifier: MIT */
/*
 * The names of functions as people write them: those of C++, Rust and D are spelt for linkers. demangle_libiberty.c
 * does it with libiberty; a build without that library (DEMANGLE=no) has demangle_none.c instead, which leaves names as
 * they are. Callable from any thread.
 */
#ifndef GAIT_SYMBOLIZE_DEMANGLE_H
#define GAIT_SYMBOLIZE_DEMANGLE_H

/* What a name means, the caller's to be freed; NULL: it means itself, or there is no memory. */
char *demangle(const char *name);

#endif
