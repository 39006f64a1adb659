/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "fetch/no_loader.h"

#include "fetch/debuginfod_client.h"
#include "support/check.h"

#include <dlfcn.h>

static void the_client_of_debuginfod_is_there(void)
{
    void *library = __wrap_dlopen("libdebuginfod.so.1", RTLD_LAZY);

    CHECK(library != NULL);
    CHECK(__wrap_dlsym(library, "debuginfod_begin") == debuginfod_client_begin);
    CHECK(__wrap_dlsym(library, "printf") == NULL);
    CHECK_EQUAL(__wrap_dlclose(library), 0);
}

static void nothing_else_can_be_loaded(void)
{
    CHECK(__wrap_dlopen("libc.so.6", RTLD_LAZY) == NULL);
    CHECK(__wrap_dlopen("/tmp/libdebuginfod.so.1", RTLD_LAZY) == NULL);
    CHECK(__wrap_dlopen(NULL, RTLD_LAZY) == NULL);
    CHECK(__wrap_dlsym(RTLD_DEFAULT, "debuginfod_begin") == NULL);
    CHECK(__wrap_dlsym(RTLD_NEXT, "printf") == NULL);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(the_client_of_debuginfod_is_there),
        CHECK_CASE(nothing_else_can_be_loaded),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
