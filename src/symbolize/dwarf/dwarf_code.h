/* SPDX-License-Identifier: MIT */
/*
 * The debug information of a program or library, as tables of its units' code. It is in the file itself or in others
 * that belong to it: by build ID, by name, or (only where DEBUGINFOD_URLS says so) from a server. In builds without
 * libdw there is none. One thread at a time for each that is open; for other threads there is dwarf_code_share.
 *
 * A file may be damaged, and its information with it: then there is less of it, or it is wrong.
 */
#ifndef GAIT_SYMBOLIZE_DWARF_DWARF_CODE_H
#define GAIT_SYMBOLIZE_DWARF_DWARF_CODE_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_code;

/* Code of a unit. A unit is named by where it is in the debug information. */
struct dwarf_range {
    uint64_t begin;
    uint64_t end;
    uint64_t unit;
};

/*
 * Separate files are looked for beside it and in the folders, which are paths with colons between them. -ENOENT: there
 * is no debug information; -ENOTSUP: this gait was built without; -ENOMEM. The caller owns it.
 */
MUST_USE int dwarf_code_open(const char *path, const char *folders, struct dwarf_code **code_out);

/* The same for another thread: it shares the bytes of the first one, which has to outlive it. -ENOMEM. */
MUST_USE int dwarf_code_share(const struct dwarf_code *code, struct dwarf_code **code_out);

/* NULL is fine. */
void dwarf_code_close(struct dwarf_code *code);

/* Which units have which code, in no order, the caller's to be freed. -ENOMEM. */
MUST_USE int dwarf_code_ranges(struct dwarf_code *code, struct dwarf_range **ranges_out, size_t *count_out);

/*
 * The table of a unit (code_table.h), the caller's to be freed. is_whole_out tells whether all was found: a part of it
 * may be in a file that is missing. -ENOENT: there is no such unit; -ENOMEM; -E2BIG.
 */
MUST_USE int dwarf_code_make_table(struct dwarf_code *code, uint64_t unit, void **block_out, size_t *size_out,
                                   bool *is_whole_out);

#endif
