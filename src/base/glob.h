/* SPDX-License-Identifier: MIT */
/*
 * Names by patterns, as in a shell: * is any number of characters, ? is one, [a-z] and [!a-z] are one of a set or one
 * that is not in it, and a backslash takes the character behind it as it is. A set that is not closed means its
 * bracket. No locks, no system calls: callable from any thread and inside the target.
 */
#ifndef GAIT_BASE_GLOB_H
#define GAIT_BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Some characters, which need not be ended by a NUL. */
struct glob_text {
    const char *start;
    size_t length;
};

/* Whether all of the name matches. The time it takes is at most the product of both lengths. */
bool glob_matches(struct glob_text pattern, struct glob_text name);

/* The same for strings. */
bool glob_matches_string(const char *pattern, const char *name);

/* Whether it matches every name. */
bool glob_is_all(struct glob_text pattern);

#endif
