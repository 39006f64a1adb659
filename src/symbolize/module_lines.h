/* SPDX-License-Identifier: MIT */
/*
 * Which code of a file comes from which line of its source, all of it, by the line tables of its debug information.
 * module_lines_libdw.c reads them with libdw; a build without that library (DWARF=no) has module_lines_none.c instead,
 * which finds none. Callable from any thread.
 */
#ifndef GAIT_SYMBOLIZE_MODULE_LINES_H
#define GAIT_SYMBOLIZE_MODULE_LINES_H

#include "base/attributes.h"

#include <stdint.h>

struct module_lines_visitor {
    /* The lines that follow are of that source, until another one is told. Nonzero from either: no more. */
    int (*source)(void *context, const char *path);
    /* The code from start to end, as the file itself calls addresses, comes from that line. Of several lines that are
     * told of the same code, the first one begins it. */
    int (*line)(void *context, uint64_t start, uint64_t end, uint32_t line);
    void *context;
};

/*
 * Tells all lines of a program or library. The visitor's own result, if that was not 0; -ENOENT: there is no debug
 * information to be found of it.
 */
MUST_USE int module_lines_visit(const char *path, const struct module_lines_visitor *visitor);

#endif
