/* SPDX-License-Identifier: MIT */
/*
 * Who comes here: libdw, when debug information is nowhere on this machine; SQLite and libtraceevent, for extensions
 * that nobody wants of them; and what libgait has for programs that load libraries, which the command never does.
 */
#include "fetch/no_loader.h"

#include "fetch/debuginfod_client.h"

#include <stddef.h>
#include <string.h>

static char client_library;

void *__wrap_dlopen(const char *path, int mode)
{
    (void)mode;
    if (path == NULL || strncmp(path, DEBUGINFOD_CLIENT_LIBRARY, strlen(DEBUGINFOD_CLIENT_LIBRARY)) != 0)
        return NULL;
    return &client_library;
}

void *__wrap_dlsym(void *library, const char *name)
{
    return library == &client_library ? debuginfod_client_function(name) : NULL;
}

int __wrap_dlclose(void *library)
{
    (void)library;
    return 0;
}
