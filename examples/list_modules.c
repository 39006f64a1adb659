/* SPDX-License-Identifier: MIT */
/*
 * Lists the modules of the process, and what the program uses of others: which function each of its calls goes to.
 *
 *   build/examples/list_modules
 *
 * Shows: modules with their segments and build IDs, imports, and what is at an address. Uses gait/process.h.
 */
#include "gait/process.h"

#include <stdio.h>
#include <string.h>

static uint64_t program_base;

static bool print_module(void *context, const struct gait_module *module)
{
    (void)context;
    printf("%012lx-%012lx %s%s\n", (unsigned long)module->base, (unsigned long)module->end, module->path,
           module->flags & GAIT_MODULE_PROGRAM ? " (the program)" : "");
    printf("    build ID ");
    for (size_t i = 0; i < module->build_id_bytes; i++)
        printf("%02x", module->build_id[i]);
    printf("%s\n", module->build_id_bytes == 0 ? "none" : "");
    for (size_t i = 0; i < module->segment_count; i++)
        printf("    %012lx %s%s%s\n", (unsigned long)module->segments[i].start,
               module->segments[i].access & GAIT_ACCESS_READ ? "r" : "-",
               module->segments[i].access & GAIT_ACCESS_WRITE ? "w" : "-",
               module->segments[i].access & GAIT_ACCESS_EXECUTE ? "x" : "-");
    if (module->flags & GAIT_MODULE_PROGRAM)
        program_base = module->base;
    return true;
}

static bool print_path(void *context, const struct gait_module *module)
{
    const char *slash = strrchr(module->path, '/');

    (void)context;
    printf(" in %s", slash == NULL ? module->path : slash + 1);
    return true;
}

static bool print_import(void *context, const struct gait_import *import)
{
    unsigned *left = context;

    printf("    %-24s", import->name);
    if (import->target == 0 || gait_process_module_at(import->target, print_path, NULL, NULL) != 0)
        printf(" nowhere");
    printf("\n");
    return --*left > 0;
}

int main(void)
{
    struct gait_error err;
    unsigned count = 8;

    if (gait_process_modules(print_module, NULL, &err) != 0) {
        fprintf(stderr, "list_modules: %s\n", err.text);
        return 1;
    }
    printf("The first imports of the program, and where they lead by now:\n");
    if (gait_module_imports(program_base, print_import, &count, &err) != 0)
        printf("    %s\n", err.text);
    return 0;
}
