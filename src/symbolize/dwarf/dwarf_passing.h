/* SPDX-License-Identifier: MIT */
/*
 * How a value of some type is passed by the calling convention for C of x86-64, if it is no single number: in registers
 * of which kind, or on the stack. Only in builds with libdw: entries and types are its Dwarf_Die, whose header not
 * every machine has.
 */
#ifndef GAIT_SYMBOLIZE_DWARF_DWARF_PASSING_H
#define GAIT_SYMBOLIZE_DWARF_DWARF_PASSING_H

#include "ring/detail_declaration.h"

#include <stdbool.h>
#include <stdint.h>

/* The type of an entry, without other names for it and without const and the like. False: it has none. */
bool dwarf_passing_type(void *entry, void *type_out);

/* How many bytes it has; 0: nobody knows. */
uint64_t dwarf_passing_size(void *type);

/* An attribute that is a number; 0 if it is missing. */
uint64_t dwarf_passing_number(void *entry, unsigned attribute);

/* Whether values of the type are in memory when they are passed, since registers do not do. */
bool dwarf_passing_is_in_memory(void *type);

/* Counts an argument of that type among the places. False: it is not understood. */
bool dwarf_passing_count(void *type, struct detail_places *places);

#endif
