/* SPDX-License-Identifier: MIT */
/*
 * Makes tables of units' code (code_table.h) straight from the bytes of debug information, for the forms that compilers
 * and dwz write nowadays. What is rare is not read here but refused: split units that are in no package, units of
 * types, and whatever is damaged. One thread at a time for each reader; any number of readers for a file.
 */
#ifndef GAIT_SYMBOLIZE_DWARF_DWARF_READER_H
#define GAIT_SYMBOLIZE_DWARF_DWARF_READER_H

#include "base/attributes.h"
#include "symbolize/code_table_builder.h"
#include "symbolize/dwarf/dwarf_extent.h"
#include "symbolize/dwarf/dwarf_open_units.h"

struct dwarf_package;

struct dwarf_reader {
    const struct dwarf_file *file;
    const struct dwarf_extent *extent;
    const struct dwarf_package *package; /* of split units; NULL: there is none, and they are refused */
    struct dwarf_open_units units;
    /* Of the table that is being made. */
    struct code_table_builder builder;
    struct dwarf_open_unit *unit;
    struct place_map names; /* texts, by the place of the entry that has the name */
    struct dwarf_rows rows;
    uint64_t round;         /* how many tables were begun */
    bool has_linkage_names; /* of the language: names alone say little */
    bool is_flat;           /* of C and C++: types have no code, but for those in functions */
    int result;             /* sticky */
};

/* The file and the extent have to outlive it. */
void dwarf_reader_init(struct dwarf_reader *reader, const struct dwarf_file *file, const struct dwarf_extent *extent);
void dwarf_reader_deinit(struct dwarf_reader *reader);

/*
 * The table of the unit whose own entry is there, the caller's to be freed. -ENOTSUP: it cannot be read here; -ENOENT:
 * there is no such unit; -ENOMEM; -E2BIG.
 */
MUST_USE int dwarf_reader_make_table(struct dwarf_reader *reader, uint64_t unit, void **block_out, size_t *size_out);

/* The number that a file of a unit has in the table that is being made; 0: it is not known. */
uint16_t dwarf_reader_file(struct dwarf_reader *reader, struct dwarf_open_unit *unit, uint64_t file);

#endif
