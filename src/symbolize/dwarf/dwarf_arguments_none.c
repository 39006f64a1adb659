/* SPDX-License-Identifier: MIT */
/* For builds without libdw: nothing is known of any function. */
#include "symbolize/dwarf/dwarf_arguments.h"

#include <errno.h>

int dwarf_arguments_open(const char *path, struct dwarf_arguments **file_out)
{
    (void)path;
    (void)file_out;
    return -ENOTSUP;
}

void dwarf_arguments_close(struct dwarf_arguments *file)
{
    (void)file;
}

int dwarf_arguments_find(struct dwarf_arguments *file, uint64_t address, struct dwarf_function *function_out)
{
    (void)file;
    (void)address;
    (void)function_out;
    return -ENOENT;
}

const char *dwarf_enumerator_find(const struct dwarf_argument *argument, int64_t value)
{
    (void)argument;
    (void)value;
    return NULL;
}
