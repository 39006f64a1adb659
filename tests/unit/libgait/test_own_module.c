/* SPDX-License-Identifier: MIT */
/*
 * Code of ours is told from the program's, also where both are in one file; and the library stays where it is, as a
 * program would have it that loads it by itself: beside this test, two folders up.
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "libgait/own_module.h"

#include "gait/error.h"
#include "hook/hook_table.h"
#include "support/check.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <unistd.h>

static void the_core_is_ours_and_the_program_is_not(void)
{
    uint64_t start, end;

    own_module_find(&start, &end);
    CHECK(start < end);
    CHECK((uintptr_t)hook_table_create >= start && (uintptr_t)hook_table_create < end);
    CHECK(!((uintptr_t)the_core_is_ours_and_the_program_is_not >= start &&
            (uintptr_t)the_core_is_ours_and_the_program_is_not < end));
    CHECK(!((uintptr_t)printf >= start && (uintptr_t)printf < end));
}

static char path[PATH_MAX + 16];

static void find_library(void)
{
    char executable[PATH_MAX] = "";

    CHECK(readlink("/proc/self/exe", executable, sizeof(executable) - 1) > 0);
    snprintf(path, sizeof(path), "%s/libgait.so", dirname(dirname(dirname(dirname(executable)))));
}

static bool is_loaded(void)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

    if (library != NULL)
        dlclose(library);
    return library != NULL;
}

static void a_library_that_is_called_by_others_stays(void)
{
    int (*watch)(struct gait_error * err);
    struct gait_error error;
    void *library;

    find_library();
    library = dlopen(path, RTLD_NOW);
    if (library == NULL)
        check_skip(dlerror());
    CHECK(is_loaded());
    dlclose(library);
    CHECK(!is_loaded());
    library = dlopen(path, RTLD_NOW);
    *(void **)&watch = dlsym(library, "gait_stack_watch_modules");
    CHECK(watch != NULL);
    CHECK_EQUAL(watch(&error), 0);
    dlclose(library);
    CHECK(is_loaded());
    /* The loader calls it. */
    library = dlopen("libm.so.6", RTLD_NOW);
    CHECK(library != NULL);
    dlclose(library);
}

static void a_program_stays_anyway(void)
{
    own_module_stay_loaded();
}

static const struct check_case cases[] = {
    CHECK_CASE(the_core_is_ours_and_the_program_is_not),
    CHECK_CASE(a_library_that_is_called_by_others_stays),
    CHECK_CASE(a_program_stays_anyway),
};

CHECK_MAIN(cases)
