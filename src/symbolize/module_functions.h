/* SPDX-License-Identifier: MIT */
/*
 * All functions of the file of a module, called or not: by its symbol tables, those of its separate file with debug
 * information, and its unwind tables. Only of a file that is the one that was recorded; what was kept of it in the
 * trace stands in for another one. One thread at a time.
 */
#ifndef GAIT_SYMBOLIZE_MODULE_FUNCTIONS_H
#define GAIT_SYMBOLIZE_MODULE_FUNCTIONS_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

struct recorded_module;
struct listed_file;

struct module_function {
    uint64_t start; /* as the file itself calls addresses */
    uint64_t end;
    const char *name; /* as it is in the tables; NULL: it has none */
};

struct module_functions {
    struct module_function *functions; /* by start; no two begin at one address */
    size_t count;
    const char *path; /* of what has its debug information: the file, or one in the trace; "": nothing has */
    uint64_t base;    /* the lowest address that the file says to be loaded at */
    uint64_t end;     /* behind the highest one */
    struct listed_file *file;
};

/*
 * Reads them; the folder of the trace is open, or -1. NULL, or why there are none: a static text that follows "its
 * file". Either way module_functions_close gives back what there is.
 */
const char *module_functions_open(struct module_functions *functions, const struct recorded_module *module, int trace);
void module_functions_close(struct module_functions *functions);

/* What the file itself calls an address of the module, or of another mapping of that file. -ENOENT: no code is there.
 */
MUST_USE int module_functions_place(const struct module_functions *functions, const struct recorded_module *module,
                                    uint64_t address, uint64_t *place_out);

#endif
