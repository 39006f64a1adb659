/* SPDX-License-Identifier: MIT */
/*
 * Which functions of a module have code of a line of its source, for patterns as "file.c:12": looked for once for each
 * pattern and module, and kept. One thread at a time.
 */
#ifndef GAIT_VIEW_PATTERN_LINES_H
#define GAIT_VIEW_PATTERN_LINES_H

#include "symbolize/function_names.h"
#include "symbolize/function_spelling.h"

#include <stdbool.h>
#include <stdint.h>

struct pattern_line;

/* Begins as zeroes. */
struct pattern_lines {
    struct pattern_line *first;
};

void pattern_lines_deinit(struct pattern_lines *lines);

/* Whether the function at that address of a module has code of the line that is meant; without one, of the next. */
bool pattern_lines_has(struct pattern_lines *lines, struct function_names *names,
                       const struct function_spelling *spelling, const struct recorded_module *module,
                       uint64_t address);

#endif
