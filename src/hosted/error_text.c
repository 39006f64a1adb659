/* SPDX-License-Identifier: MIT */
/* One function, since all that can go wrong is told in the same way. Stateless. */
#include "hosted/error_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int error_set(struct gait_error *err, int code, const char *format, ...)
{
    va_list arguments;

    if (err != NULL) {
        err->code = abs(code);
        va_start(arguments, format);
        vsnprintf(err->text, sizeof(err->text), format, arguments);
        va_end(arguments);
    }
    return -abs(code);
}
