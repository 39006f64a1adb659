/* SPDX-License-Identifier: MIT */
/*
 * The sections of debug information of a file, as bytes, and where in it its units are. After dwarf_file_init it does
 * not change: any number of threads may read it. The bytes come from others, and are not trusted.
 */
#ifndef GAIT_SYMBOLIZE_DWARF_DWARF_FILE_H
#define GAIT_SYMBOLIZE_DWARF_DWARF_FILE_H

#include "base/attributes.h"
#include "symbolize/dwarf/dwarf_abbreviations.h"
#include "symbolize/dwarf/dwarf_cursor.h"

/* Those that are not there are empty. */
struct dwarf_sections {
    struct dwarf_span info;
    struct dwarf_span abbrev;
    struct dwarf_span line;
    struct dwarf_span str;
    struct dwarf_span line_str;
    struct dwarf_span ranges;
    struct dwarf_span rnglists;
    struct dwarf_span addr;
    struct dwarf_span str_offsets;
    struct dwarf_span aranges;
};

/* What a unit begins with. All places are those in the section. */
struct dwarf_unit_header {
    uint64_t begin;
    uint64_t first_entry; /* the unit's own: by its place units are named */
    uint64_t end;
    uint64_t abbreviations;
    uint16_t version;
    uint8_t type;    /* enum dwarf_unit_type; others are there, too */
    uint64_t dwo_id; /* of split units of DWARF 5, and what is left of them in the program */
    struct dwarf_sizes sizes;
};

struct dwarf_file {
    struct dwarf_sections sections;
    const struct dwarf_file *shared; /* that several files refer to (dwz), or NULL */
    struct dwarf_unit_header *units; /* by their places */
    size_t unit_count;
};

/*
 * Looks where units are, up to the first one that is damaged or of a version that is not known. What was given has to
 * outlive it. -ENOMEM.
 */
MUST_USE int dwarf_file_init(struct dwarf_file *file, const struct dwarf_sections *sections,
                             const struct dwarf_file *shared);
void dwarf_file_deinit(struct dwarf_file *file);

/* The unit that has that place in .debug_info; NULL: there is none. */
const struct dwarf_unit_header *dwarf_file_unit(const struct dwarf_file *file, uint64_t place);

/* A section of that name, ".debug_info" or, of split units, ".debug_info.dwo"; NULL: it is not of interest. */
struct dwarf_span *dwarf_sections_by_name(struct dwarf_sections *sections, const char *name);

#endif
