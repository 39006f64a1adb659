/* SPDX-License-Identifier: MIT */
/*
 * Memory of a program as the record of a system call kept it: pieces, each an address and what was there. Looked at as
 * if it were live. What is in the record is not trusted. No memory of its own; one thread at a time.
 */
#ifndef GAIT_SYSCALLS_RECORDED_MEMORY_H
#define GAIT_SYSCALLS_RECORDED_MEMORY_H

#include "ring/detail_record.h"
#include "syscalls/system_call_event.h"

struct recorded_memory {
    struct detail_values values; /* must stay */
    struct call_memory memory;   /* for events */
};

void recorded_memory_init(struct recorded_memory *memory, struct detail_values values);

#endif
