/* SPDX-License-Identifier: MIT */
/*
 * Which memory of the program the arguments of a system call point at. Stateless, no locks, no system calls but those
 * of the reader that is given: usable from any thread, inside the target.
 */
#ifndef GAIT_PROCESS_SYSTEM_CALL_MEMORY_H
#define GAIT_PROCESS_SYSTEM_CALL_MEMORY_H

#include "base/attributes.h"
#include "process/system_call_table.h"

#include <stdbool.h>

/* A piece of the program's memory. */
struct system_call_memory {
    uint64_t address;
    uint64_t size_bytes; /* of strings: 0, it ends by its NUL */
    bool is_string;
};

/* Reads sizes that calls take by pointers: copies size_bytes at address, and returns whether they were there. */
typedef bool (*system_call_reader)(void *context, uint64_t address, void *bytes_out, size_t size_bytes);

struct system_call_moment {
    const uint64_t *arguments; /* all six */
    int64_t result;            /* after the call */
    bool is_after;
    system_call_reader read; /* NULL: sizes that are pointed at count as 0 */
    void *context;
};

/*
 * What argument `which` points at and is worth keeping at that moment: false where that is nothing. What is behind
 * pointers inside of it (iovec, msghdr) is not looked at. Sizes are the program's word: bound them.
 */
MUST_USE bool system_call_memory(const struct system_call_signature *call, unsigned which,
                                 const struct system_call_moment *moment, struct system_call_memory *memory_out);

#endif
