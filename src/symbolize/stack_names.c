/* SPDX-License-Identifier: MIT */
#include "symbolize/stack_names.h"

#include "symbolize/function_names.h"
#include "trace/modules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The place of what comes behind a name, "+0x12"; the end of the text if there is nothing. */
static char *find_distance(char *text, uint64_t *distance_out)
{
    char *mark = strrchr(text, '+'), *end;

    *distance_out = 0;
    if (mark == NULL || strncmp(mark, "+0x", 3) != 0)
        return text + strlen(text);
    *distance_out = strtoull(mark + 3, &end, 16);
    return *end == '\0' ? mark : text + strlen(text);
}

void stack_names_find(const struct modules *modules, struct function_names *names, uint64_t time, uint64_t address,
                      char *text, size_t text_bytes)
{
    const struct recorded_module *module = modules_find(modules, address - 1, time, time);
    uint64_t distance;
    char *behind;

    snprintf(text, text_bytes, "0x%" PRIx64, address);
    if (module == NULL)
        return;
    (void)function_names_find(names, module, address - 1, text, text_bytes);
    behind = find_distance(text, &distance);
    snprintf(behind, text_bytes - (size_t)(behind - text), "+0x%" PRIx64, distance + 1);
}

void stack_names_find_line(const struct modules *modules, struct function_names *names, uint64_t time, uint64_t address,
                           char *text, size_t text_bytes)
{
    const struct recorded_module *module = modules_find(modules, address - 1, time, time);
    size_t used;

    stack_names_find(modules, names, time, address, text, text_bytes);
    used = strlen(text);
    if (module != NULL)
        function_names_line(names, module, address - 1, text + used, text_bytes - used);
}
