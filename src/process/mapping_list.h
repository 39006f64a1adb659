/* SPDX-License-Identifier: MIT */
/*
 * The mappings of this process, as /proc lists them. Raw system calls, no locks, no memory but the stack's: callable
 * from any thread, and inside the target.
 */
#ifndef GAIT_PROCESS_MAPPING_LIST_H
#define GAIT_PROCESS_MAPPING_LIST_H

#include "base/attributes.h"
#include "base/memory_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAPPING_PATH_BYTES_MAX 1024

struct mapping {
    uint64_t start;
    uint64_t end;
    uint64_t file_offset;
    bool is_readable;
    bool is_writable;
    bool is_executable;
    bool is_shared; /* what is written there is seen by others who map the same */
    size_t path_length;
    char path[MAPPING_PATH_BYTES_MAX]; /* a longer one is cut off; none: nothing, or a name in brackets */
};

/* enum memory_access. */
static inline unsigned mapping_access(const struct mapping *mapping)
{
    return (mapping->is_readable ? MEMORY_READ : 0) | (mapping->is_writable ? MEMORY_WRITE : 0) |
           (mapping->is_executable ? MEMORY_EXECUTE : 0);
}

/*
 * Takes mappings in the range for ones that have no file, from now on: what of ours is mapped from a file is no module
 * of the program's. Before the first visit.
 */
void mapping_list_set_own(struct memory_range range);

/*
 * Calls visit for each mapping that has an address of [start, end), in their order. visit must not change mappings
 * of code; it may map other memory.
 * -ENOENT and others: there is no /proc.
 */
MUST_USE int mapping_list_visit(uint64_t start, uint64_t end,
                                void (*visit)(void *context, const struct mapping *mapping), void *context);

#endif
