/* SPDX-License-Identifier: MIT */
/* The library's version as text, put together from the numbers in the public header. */
#include "gait/version.h"

#include "libgait/export.h"

#define TEXT(number)    #number
#define DOTTED(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

EXPORT const char *gait_version(void)
{
    return DOTTED(GAIT_VERSION_MAJOR, GAIT_VERSION_MINOR, GAIT_VERSION_PATCH);
}
