/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "libgait/stay_loaded.h"

#include <dlfcn.h>
#include <stddef.h>

void stay_loaded(void)
{
    Dl_info info;

    if (dladdr((const void *)&stay_loaded, &info) != 0 && info.dli_fname != NULL)
        (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}
