/* SPDX-License-Identifier: MIT */
/*
 * A resolver takes no arguments that matter on any CPU whose hooks we have, changes nothing, and is made to be called
 * before anything else of its library is ready, but not before the addresses in it are: those of a library that is
 * being loaded are not there yet when the loader tells of it.
 */
#include "agent/indirect_functions.h"

#include "process/memory_probe.h"

#include <stdbool.h>

#define WAITING_MAX 256u

struct waiting {
    uint64_t resolver; /* 0: the place is free */
    uint64_t patterns;
    bool is_settled;
    char name[INDIRECT_NAME_BYTES];
};

static struct waiting waiting[WAITING_MAX];

void indirect_functions_clear(void)
{
    __builtin_memset(waiting, 0, sizeof(waiting));
}

void indirect_functions_add(uint64_t resolver, uint64_t patterns, const char *name, size_t name_length)
{
    for (unsigned i = 0; i < WAITING_MAX; i++) {
        if (waiting[i].resolver != 0 && waiting[i].resolver != resolver)
            continue;
        waiting[i].resolver = resolver;
        if (name_length >= INDIRECT_NAME_BYTES)
            name_length = INDIRECT_NAME_BYTES - 1;
        __builtin_memcpy(waiting[i].name, name, name_length);
        waiting[i].name[name_length] = '\0';
        waiting[i].patterns |= patterns;
        return;
    }
}

void indirect_functions_remove(uint64_t start, uint64_t end)
{
    for (unsigned i = 0; i < WAITING_MAX; i++)
        if (waiting[i].resolver - start < end - start)
            waiting[i] = (struct waiting){.resolver = 0};
}

void indirect_functions_settle(void)
{
    for (unsigned i = 0; i < WAITING_MAX; i++)
        waiting[i].is_settled = waiting[i].resolver != 0;
}

void indirect_functions_resolve(void (*found)(uint64_t target, uint64_t patterns, const char *name))
{
    for (unsigned i = 0; i < WAITING_MAX; i++) {
        struct waiting one = waiting[i];
        uint64_t target;

        if (!one.is_settled)
            continue;
        waiting[i] = (struct waiting){.resolver = 0};
        target = ((uint64_t(*)(void))(uintptr_t)one.resolver)();
        if (target != 0 && memory_probe(target))
            found(target, one.patterns, one.name);
    }
}
