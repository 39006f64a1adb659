/* SPDX-License-Identifier: MIT */
#include "symbolize/spelled_function.h"

#include "symbolize/demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *spelled_function(const char *name, char *text_out, size_t text_bytes)
{
    const char *mark = strchr(name, '!');
    const char *function = mark == NULL ? name : mark + 1;
    char *plain = demangle(function);

    snprintf(text_out, text_bytes, "%.*s%s", (int)(function - name), name, plain == NULL ? function : plain);
    free(plain);
    return text_out;
}
