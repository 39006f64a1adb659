/* SPDX-License-Identifier: MIT */
#include "symbolize/module_lines.h"

#include <errno.h>

int module_lines_visit(const char *path, const struct module_lines_visitor *visitor)
{
    (void)path;
    (void)visitor;
    return -ENOENT;
}
