/* SPDX-License-Identifier: MIT */
/*
 * What debug information says of the arguments of functions: their names, their types, and so where they stand when the
 * function is entered. It is in the file itself, or in another one that belongs to it by its build ID or its name. In
 * builds without libdw there is none. One thread at a time.
 */
#ifndef GAIT_SYMBOLIZE_DWARF_DWARF_ARGUMENTS_H
#define GAIT_SYMBOLIZE_DWARF_DWARF_ARGUMENTS_H

#include "base/attributes.h"
#include "ring/detail_declaration.h"

#include <stdint.h>

#define DWARF_NAME_BYTES 40
#define DWARF_DIE_BYTES  32

struct dwarf_arguments;

/* What is known of one argument, or of the result. */
struct dwarf_argument {
    char name[DWARF_NAME_BYTES]; /* cut off; empty: it has none */
    bool is_enumeration;
    _Alignas(8) uint8_t type[DWARF_DIE_BYTES]; /* of an enumeration; the library's */
};

struct dwarf_function {
    struct detail_declaration declaration;
    struct dwarf_argument arguments[DETAIL_FIELDS_MAX];
    struct dwarf_argument result;
};

/*
 * Opens the file's debug information. -ENOENT: there is none; -ENOTSUP: this gait was built without; -ENOMEM. The
 * caller owns it.
 */
MUST_USE int dwarf_arguments_open(const char *path, struct dwarf_arguments **file_out);

/* NULL is fine. */
void dwarf_arguments_close(struct dwarf_arguments *file);

/* The function that begins at that address of the file. -ENOENT: nothing is known of one. */
MUST_USE int dwarf_arguments_find(struct dwarf_arguments *file, uint64_t address, struct dwarf_function *function_out);

/* What an enumeration calls a value; NULL: nothing, or it is none. Stays as long as the file is open. */
const char *dwarf_enumerator_find(const struct dwarf_argument *argument, int64_t value);

#endif
