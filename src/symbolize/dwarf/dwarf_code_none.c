/* SPDX-License-Identifier: MIT */
/* For builds without libdw: there is no debug information. */
#include "symbolize/dwarf/dwarf_code.h"

#include <errno.h>

int dwarf_code_open(const char *path, const char *folders, struct dwarf_code **code_out)
{
    (void)path;
    (void)folders;
    (void)code_out;
    return -ENOTSUP;
}

int dwarf_code_share(const struct dwarf_code *code, struct dwarf_code **code_out)
{
    (void)code;
    (void)code_out;
    return -ENOTSUP;
}

void dwarf_code_close(struct dwarf_code *code)
{
    (void)code;
}

int dwarf_code_ranges(struct dwarf_code *code, struct dwarf_range **ranges_out, size_t *count_out)
{
    (void)code;
    (void)ranges_out;
    (void)count_out;
    return -ENOTSUP;
}

int dwarf_code_make_table(struct dwarf_code *code, uint64_t unit, void **block_out, size_t *size_out,
                          bool *is_whole_out)
{
    (void)code;
    (void)unit;
    (void)block_out;
    (void)size_out;
    (void)is_whole_out;
    return -ENOENT;
}
