/* SPDX-License-Identifier: MIT */
/* The debug information of a program, as it stands in its file: by default of the test itself. */
#ifndef GAIT_TESTS_OWN_DWARF_H
#define GAIT_TESTS_OWN_DWARF_H

#include "elf/symbol_file.h"
#include "symbolize/dwarf/dwarf_extent.h"
#include "symbolize/dwarf/dwarf_file.h"

struct own_dwarf {
    struct symbol_file file;
    struct dwarf_sections sections;
    struct dwarf_file dwarf;
    struct dwarf_extent extent;
};

/* Reads it; ends the test as skipped if there is none that is not packed. NULL: of the program that runs. */
void own_dwarf_open(struct own_dwarf *own, const char *path);
void own_dwarf_close(struct own_dwarf *own);

/* What the file calls the address of a function of this program. */
uint64_t own_dwarf_place(const void *function);

#endif
