/* SPDX-License-Identifier: MIT */
/*
 * A package of split units (.dwp): all of them in one file beside the program, with an index that says which part of
 * which section belongs to which unit. After dwarf_package_init it does not change. Nothing of it is trusted.
 */
#ifndef GAIT_SYMBOLIZE_DWARF_DWARF_PACKAGE_H
#define GAIT_SYMBOLIZE_DWARF_DWARF_PACKAGE_H

#include "base/attributes.h"
#include "symbolize/dwarf/dwarf_file.h"

struct dwarf_package {
    struct dwarf_file file; /* the package's sections, and those of the program that its units refer to */
    struct dwarf_span index;
    uint16_t version;
    uint32_t column_count;
    uint32_t row_count;
    uint32_t slot_count;
};

/* Where the parts of a unit begin in the package's sections. */
struct dwarf_package_parts {
    uint64_t info;
    uint64_t abbrev;
    uint64_t line; /* UINT64_MAX: there is none */
    uint64_t str_offsets;
    uint64_t rnglists;
};

/*
 * The sections are those of the package; addresses and, up to DWARF 4, ranges are the program's. -ENOTSUP: the index is
 * damaged, or of a version that is not known; -ENOMEM.
 */
MUST_USE int dwarf_package_init(struct dwarf_package *package, const struct dwarf_sections *sections,
                                struct dwarf_span index, const struct dwarf_sections *program);
void dwarf_package_deinit(struct dwarf_package *package);

/* Finds a unit by its number. -ENOENT: it is not there. */
MUST_USE int dwarf_package_find(const struct dwarf_package *package, uint64_t id,
                                struct dwarf_package_parts *parts_out);

#endif
