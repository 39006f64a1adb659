/* SPDX-License-Identifier: MIT */
/* Whether two tables say the same of the same code, made in different ways. */
#ifndef GAIT_TESTS_TABLE_COMPARE_H
#define GAIT_TESTS_TABLE_COMPARE_H

#include "symbolize/code_table.h"

struct dwarf_range;

/*
 * How many places there are at which they differ, of all at which one of them changes, within the code of a unit;
 * prints the first ones. count_out is increased by the number of places that were compared.
 */
size_t table_compare(const struct code_table *left, const struct code_table *right, const struct dwarf_range *range,
                     size_t *count_out);

/* The same for every unit of a program: what gait reads by itself, and what it reads by libdw. Builds with libdw only.
 */
size_t table_compare_program(const char *path, size_t *count_out);

#endif
