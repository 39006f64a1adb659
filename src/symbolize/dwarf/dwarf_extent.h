/* SPDX-License-Identifier: MIT */
/* Which addresses of debug information are of code that is there. Usable anywhere. */
#ifndef GAIT_SYMBOLIZE_DWARF_DWARF_EXTENT_H
#define GAIT_SYMBOLIZE_DWARF_DWARF_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

/* Where the program has code, and what is to be added to addresses in debug information. */
struct dwarf_extent {
    uint64_t begin;
    uint64_t end;
    uint64_t distance;
};

/* Whether code is there, or ends there. What the linker has thrown away is at 0, or far away. */
static inline bool dwarf_extent_has(const struct dwarf_extent *extent, uint64_t address)
{
    uint64_t place = address + extent->distance;

    return address != 0 && place >= extent->begin && place <= extent->end;
}

#endif
