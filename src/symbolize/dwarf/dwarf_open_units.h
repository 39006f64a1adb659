/* SPDX-License-Identifier: MIT */
/*
 * Units whose own entry was read: where their texts, addresses and ranges count from, and their files. Those that
 * others refer to are opened, too. One thread at a time.
 */
#ifndef GAIT_SYMBOLIZE_DWARF_DWARF_OPEN_UNITS_H
#define GAIT_SYMBOLIZE_DWARF_DWARF_OPEN_UNITS_H

#include "base/attributes.h"
#include "symbolize/dwarf/dwarf_entry.h"
#include "symbolize/dwarf/dwarf_line_table.h"
#include "symbolize/place_map.h"

struct dwarf_package;

struct dwarf_open_unit {
    struct dwarf_open_unit *next;
    struct dwarf_unit_view view;
    struct dwarf_entry entry;         /* the unit's own; of a unit that was peeked at, its fields only */
    uint64_t first_child;             /* place of the first entry below it; 0: there is none */
    const char *folder;               /* that the compiler ran in; NULL: not known */
    bool is_skeleton;                 /* its entries are in another file, as a split unit */
    struct dwarf_open_unit *skeleton; /* of a split unit, what is in the program; NULL: it is none */
    struct dwarf_unit_header header;  /* of a split unit, with places as in the package */
    uint64_t lines_begin;             /* of a split unit: its line table; UINT64_MAX: that of the skeleton */
    int lines_result;                 /* 1: nobody has asked yet */
    struct dwarf_line_table lines;
    uint32_t *file_numbers; /* of the table that is being made, and one; 0: not known yet */
    uint64_t file_round;    /* of that table */
};

struct dwarf_open_units {
    struct dwarf_open_unit *units;
    size_t count;
    struct place_map by_header;
    struct dwarf_abbreviation_table *tables; /* by their places, all that the units need */
    uint64_t work_left;                      /* bytes that may be read; a file may want the same ones again and again */
};

/* work_bytes: so much is read, and no more. */
void dwarf_open_units_init(struct dwarf_open_units *units, uint64_t work_bytes);
void dwarf_open_units_deinit(struct dwarf_open_units *units);

/* Forgets the units, if there are many: to be called when nobody uses one. */
void dwarf_open_units_trim(struct dwarf_open_units *units);

/* Says that so many bytes are read. False: that is too much. */
bool dwarf_open_units_spend(struct dwarf_open_units *units, uint64_t size_bytes);

/* The unit with that header. -ENOTSUP: it cannot be read here; -ENOMEM. */
MUST_USE int dwarf_open_units_get(struct dwarf_open_units *units, const struct dwarf_file *file,
                                  const struct dwarf_unit_header *header, struct dwarf_open_unit **unit_out);

/* The split unit of a skeleton, in a package. -ENOENT: it is not there; else as dwarf_open_units_get. */
MUST_USE int dwarf_open_units_get_split(struct dwarf_open_units *units, const struct dwarf_package *package,
                                        struct dwarf_open_unit *skeleton, struct dwarf_open_unit **unit_out);

/* Its line table; NULL: there is none, or none that can be read. */
const struct dwarf_line_table *dwarf_open_units_lines(struct dwarf_open_units *units, struct dwarf_open_unit *unit);

/* Reads only the unit's own entry, into storage of the caller's, which needs not be given back. As above. */
MUST_USE int dwarf_open_unit_peek(const struct dwarf_file *file, const struct dwarf_unit_header *header,
                                  struct dwarf_open_unit *unit_out);

#endif
