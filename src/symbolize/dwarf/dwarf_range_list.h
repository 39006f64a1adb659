/* SPDX-License-Identifier: MIT */
/* A list of code that units have, while it grows. One thread at a time. */
#ifndef GAIT_SYMBOLIZE_DWARF_DWARF_RANGE_LIST_H
#define GAIT_SYMBOLIZE_DWARF_DWARF_RANGE_LIST_H

#include "base/attributes.h"
#include "symbolize/dwarf/dwarf_code.h"
#include "symbolize/dwarf/dwarf_extent.h"

/* An empty one is all zeroes. */
struct dwarf_range_list {
    struct dwarf_range *ranges; /* the owner's to be freed */
    size_t count;
    size_t capacity;
};

/* Adds a range with its addresses as debug information has them; one where no code is, is left out. -ENOMEM. */
MUST_USE int dwarf_range_list_add(struct dwarf_range_list *list, const struct dwarf_extent *extent,
                                  struct dwarf_range range);

/* Reads which units of a file have which code, all of them. -ENOTSUP: some of them cannot be read here; -ENOMEM. */
struct dwarf_file;
MUST_USE int dwarf_range_list_read(struct dwarf_range_list *list, const struct dwarf_file *file,
                                   const struct dwarf_extent *extent);

#endif
