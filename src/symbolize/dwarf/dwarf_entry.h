/* SPDX-License-Identifier: MIT */
/*
 * Entries of a unit, and the values of their attributes: addresses, texts, places of other entries, lists of ranges.
 * Nothing of a file is trusted. One thread at a time for each unit.
 */
#ifndef GAIT_SYMBOLIZE_DWARF_DWARF_ENTRY_H
#define GAIT_SYMBOLIZE_DWARF_DWARF_ENTRY_H

#include "symbolize/dwarf/dwarf_abbreviations.h"
#include "symbolize/dwarf/dwarf_file.h"

/* A unit that is being read. */
struct dwarf_unit_view {
    const struct dwarf_file *file;
    const struct dwarf_unit_header *header;
    const struct dwarf_abbreviations *abbreviations;
    uint64_t base_address; /* that ranges count from */
    uint64_t str_offsets_base;
    uint64_t addr_base;
    uint64_t rnglists_base;
    uint64_t ranges_begin; /* of split units: where the lists begin that places count from */
};

struct dwarf_value {
    uint16_t form;   /* 0: it is not there */
    uint64_t number; /* what stands there: of a text that stands there, its place in .debug_info */
};

struct dwarf_entry {
    const struct dwarf_abbreviation *abbreviation;
    struct dwarf_value fields[DWARF_FIELDS]; /* those of interest */
};

/*
 * The cursor is where an entry begins, and is behind it afterwards. False: there is none (a zero, or damage, which the
 * cursor tells).
 */
bool dwarf_entry_read(const struct dwarf_unit_view *unit, struct dwarf_cursor *cursor, struct dwarf_entry *entry_out);

/* Its attributes only: the number of the abbreviation was read already. */
void dwarf_entry_read_fields(const struct dwarf_unit_view *unit, const struct dwarf_abbreviation *abbreviation,
                             struct dwarf_cursor *cursor, struct dwarf_entry *entry_out);

/* From a place in .debug_info to the end of the unit. */
struct dwarf_cursor dwarf_unit_cursor(const struct dwarf_unit_view *unit, uint64_t place);

/* A number: 0 if it is not there. */
uint64_t dwarf_value_number(const struct dwarf_value *value);

/* Whether it is an address, and not, as the end of code may be, a distance. */
bool dwarf_value_is_address(const struct dwarf_value *value);

/* False: it is none, or not there. */
bool dwarf_value_address(const struct dwarf_unit_view *unit, const struct dwarf_value *value, uint64_t *address_out);

/* NULL: it is none, or not there. */
const char *dwarf_value_text(const struct dwarf_unit_view *unit, const struct dwarf_value *value);

/* The file, and the place there, that a value refers to. False: it refers to nothing that can be found so. */
bool dwarf_value_reference(const struct dwarf_unit_view *unit, const struct dwarf_value *value,
                           const struct dwarf_file **file_out, uint64_t *place_out);

/*
 * Tells each range of a list, one after the other. Returns how many bytes were read. What is damaged is left out, and
 * what has no end.
 */
uint64_t dwarf_value_ranges(const struct dwarf_unit_view *unit, const struct dwarf_value *value,
                            void (*take)(void *context, uint64_t begin, uint64_t end), void *context);

#endif
