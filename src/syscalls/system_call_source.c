/* SPDX-License-Identifier: MIT */
#include "syscalls/system_call_source.h"

#include <string.h>

#define SYSTEM_CALL_SOURCE(name) extern const struct system_call_source system_call_source_##name;
#include "syscalls/system_call_sources.def"
#undef SYSTEM_CALL_SOURCE

static const struct system_call_source *const sources[] = {
#define SYSTEM_CALL_SOURCE(name) &system_call_source_##name,
#include "syscalls/system_call_sources.def"
#undef SYSTEM_CALL_SOURCE
};

const struct system_call_source *system_call_source_at(size_t index)
{
    return index < sizeof(sources) / sizeof(sources[0]) ? sources[index] : NULL;
}

const struct system_call_source *system_call_source_find(const char *name)
{
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        if (strcmp(sources[i]->name, name) == 0)
            return sources[i];
    return NULL;
}
