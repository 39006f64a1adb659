/* SPDX-License-Identifier: MIT */
/* One unit of debug information, read by libdw, made into a table of its code. Part of builds with libdw only. */
#ifndef GAIT_SYMBOLIZE_DWARF_DWARF_UNIT_H
#define GAIT_SYMBOLIZE_DWARF_DWARF_UNIT_H

#include "base/attributes.h"
#include "symbolize/dwarf/dwarf_extent.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

/* As dwarf_code_make_table; the entry is the unit's own. */
MUST_USE int dwarf_unit_make_table(Dwarf_Die *unit, const struct dwarf_extent *extent, void **block_out,
                                   size_t *size_out, bool *is_whole_out);

#endif
