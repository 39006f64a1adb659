/* SPDX-License-Identifier: MIT */
/* What the symbolizer says of places in a file, printed as addr2line -a -f -i -C does, to be compared with it. */
#ifndef GAIT_TESTS_LINE_PRINTER_H
#define GAIT_TESTS_LINE_PRINTER_H

#include "symbolize/symbolizer.h"
#include "trace/modules.h"

#include <stdio.h>

/* The code of a file, as it would be recorded if it were mapped where the file itself has it. False: there is none. */
bool line_printer_module(const char *path, struct recorded_module *module_out);

/*
 * Addresses in the code of a file for which there are symbols: the first byte of each function, and others in it, no
 * more than `count_max`; where there are too many functions, of each second one, or third... The caller's to be freed.
 */
uint64_t *line_printer_addresses(const char *path, size_t count_max, size_t *count_out);

/* Prints them all, found by the symbolizer. */
void line_printer_print(struct symbolizer *symbolizer, const struct recorded_module *module, const uint64_t *addresses,
                        size_t count, FILE *out);

#endif
