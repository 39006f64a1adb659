/* SPDX-License-Identifier: MIT */
/* What is in a stub, found from where its call of the entering gate returns to. Any thread; no libc. */
#ifndef GAIT_HOOK_STUB_KNOWLEDGE_H
#define GAIT_HOOK_STUB_KNOWLEDGE_H

#include "arch/stub_layout.h"
#include "hook/hook_stub.h"
#include "hook/hook_thread_layout.h"
#include "ring/event_record.h"

#include <stdint.h>

/* Only inside: what returns there is an unwinder, behind which return addresses are to be replaced again. */
#define HOOK_STUB_UNWINDER HOOK_PART_UNWINDER

static inline struct hook_function *stub_function(uint64_t stub)
{
    struct hook_function *function;

    __builtin_memcpy(&function, (const void *)(uintptr_t)(stub + STUB_FUNCTION), sizeof(function));
    return function;
}

static inline uint32_t stub_parts(uint64_t stub)
{
    uint32_t parts;

    __builtin_memcpy(&parts, (const void *)(uintptr_t)(stub + STUB_PARTS), sizeof(parts));
    return parts;
}

static inline uint32_t stub_record_number(uint64_t stub)
{
    uint32_t header;

    __builtin_memcpy(&header, (const void *)(uintptr_t)(stub + STUB_HEADER), sizeof(header));
    return event_header_number(header);
}

#endif
