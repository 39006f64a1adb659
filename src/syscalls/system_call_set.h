/* SPDX-License-Identifier: MIT */
/*
 * Sets of system calls, in the language of strace -e trace=: names, classes with and without %, /regular expressions/,
 * all, none, commas between them, ! in front for all others, ? before a name that need not exist. Plain storage of the
 * caller's.
 */
#ifndef GAIT_SYSCALLS_SYSTEM_CALL_SET_H
#define GAIT_SYSCALLS_SYSTEM_CALL_SET_H

#include "base/attributes.h"
#include "process/system_call_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYSTEM_CALL_SET_WORDS (SYSTEM_CALL_NUMBERS / 64)

/* A bit for each number. Calls that have no place here, with numbers above all known ones, are in it or not together.
 */
struct system_call_set {
    uint64_t bits[SYSTEM_CALL_SET_WORDS];
    bool has_others;
};

/* What was wrong with a text. */
struct system_call_set_fault {
    const char *word; /* within the text */
    size_t length;
    const char *reason; /* "there is no such system call" */
    bool is_class;      /* it was meant as a class */
};

void system_call_set_fill(struct system_call_set *set);

static inline bool system_call_set_has(const struct system_call_set *set, uint64_t number)
{
    return number < SYSTEM_CALL_NUMBERS ? (set->bits[number / 64] >> number % 64 & 1) != 0 : set->has_others;
}

/* Reads the text. -EINVAL: fault_out says what is wrong with it. */
MUST_USE int system_call_set_parse(const char *text, struct system_call_set *set_out,
                                   struct system_call_set_fault *fault_out);

/* The names of classes, for index 0 on; NULL behind the last. */
const char *system_call_set_class(size_t index);

#endif
