/* SPDX-License-Identifier: MIT */
/*
 * A program, a library that it is linked with, and plugins that it loads one after the other at the same place: built
 * by -DPROGRAM, -DLIBRARY and -DPLUGIN=name. The argument is the folder of plugin_a.so and plugin_b.so. It says how
 * often a plugin was where the one before it had been.
 */
#define KEPT __attribute__((noinline, noclone))

int library_work(int count, int (*function)(int));

#ifdef LIBRARY
static KEPT int library_inside(int count)
{
    __asm__ volatile("");
    return count + 1;
}

int library_work(int count, int (*function)(int))
{
    return library_inside(count) + function(count);
}
#endif

#ifdef PLUGIN
int PLUGIN(int count, int (*function)(int));

/* The plugins are of the same size, and their functions at the same places. */
int PLUGIN(int count, int (*function)(int))
{
    return function(count) + 1;
}
#endif

#ifdef PROGRAM
#include <dlfcn.h>
#include <stdio.h>

#ifdef OTHER
/* So that all others are somewhere else. */
int other_function(int count)
{
    return library_work(count, 0);
}
#endif

static void *last_place;
static int same_places;

KEPT int leaf(int count)
{
    __asm__ volatile("");
    return count * 2;
}

static KEPT int run_plugin(const char *folder, const char *name)
{
    char path[4096];
    void *library;
    int (*function)(int, int (*)(int)), result;

    snprintf(path, sizeof(path), "%s/%s.so", folder, name);
    library = dlopen(path, RTLD_NOW);
    function = library == NULL ? NULL : (int (*)(int, int (*)(int)))dlsym(library, name);
    if (function == NULL)
        return 0;
    same_places += last_place == (void *)function;
    last_place = (void *)function;
    result = function(3, leaf);
    dlclose(library);
    return result;
}

int main(int count, char **arguments)
{
    int sum = 0;

    for (int i = 0; count == 2 && i < 20; i++) {
        sum += run_plugin(arguments[1], "plugin_a");
        sum += run_plugin(arguments[1], "plugin_b");
        sum += library_work(i, leaf);
    }
    printf("%d %d\n", sum, same_places);
    return 0;
}
#endif
