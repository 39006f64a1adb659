/* SPDX-License-Identifier: MIT */
/*
 * Looking for bytes in the memory of this process, also where it may go away meanwhile: all is copied by the kernel
 * first. Raw system calls, some memory of its own, no locks, no libc; callable from any thread, inside the target.
 */
#ifndef GAIT_PROCESS_MEMORY_SCAN_H
#define GAIT_PROCESS_MEMORY_SCAN_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

struct memory_pattern;

/*
 * Calls visit for each address from `start` up to before `end` at which the pattern is, as a whole, within the range;
 * false ends it. They may overlap. Pages that cannot be read are passed over, and so is the memory that the scan itself
 * uses. -EINVAL: the range is none; -ENOMEM; what mapping_list_visit gives, for a range of more than 1 GiB.
 */
MUST_USE int memory_scan(const struct memory_pattern *pattern, uint64_t start, uint64_t end,
                         bool (*visit)(void *context, uint64_t address), void *context);

#endif
