/* SPDX-License-Identifier: MIT */
/* For builds without libiberty: names stay as they are in files. */
#include "symbolize/demangle.h"

#include <stddef.h>

char *demangle(const char *name)
{
    (void)name;
    return NULL;
}
