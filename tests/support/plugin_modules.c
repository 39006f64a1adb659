/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/plugin_modules.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char source[] = "int plugin_call(int (*function)(void *), void *context);\n"
                             "int plugin_call(int (*function)(void *), void *context)\n"
                             "{\n"
                             "    volatile char room[WORDS * 8];\n"
                             "    room[0] = 1;\n"
                             "    return function(context) + room[0];\n"
                             "}\n";

static void fail(const char *what)
{
    printf("plugins: %s\n", what);
    exit(1);
}

static void path_of(const struct plugin_modules *modules, unsigned which, char path_out[128])
{
    snprintf(path_out, 128, "%s/%c.so", modules->folder, 'a' + (int)which);
}

void plugin_modules_init(struct plugin_modules *modules)
{
    char path[128], command[512];
    FILE *file;

    strcpy(modules->folder, "/tmp/gait-plugins-XXXXXX");
    if (mkdtemp(modules->folder) == NULL)
        fail("cannot make a folder");
    snprintf(path, sizeof(path), "%s/plugin.c", modules->folder);
    file = fopen(path, "w");
    if (file == NULL || fputs(source, file) < 0 || fclose(file) != 0)
        fail("cannot write the source");
    for (unsigned i = 0; i < PLUGIN_COUNT; i++) {
        path_of(modules, i, path);
        snprintf(command, sizeof(command),
                 "cc -O1 -fomit-frame-pointer -fno-stack-protector -shared -fPIC -DWORDS=%u -o %s %s/plugin.c",
                 100 + 37 * i, path, modules->folder);
        if (system(command) != 0) {
            plugin_modules_deinit(modules);
            printf("skipped: there is no C compiler named cc\n");
            exit(77);
        }
    }
}

void plugin_modules_deinit(struct plugin_modules *modules)
{
    char path[128];

    for (unsigned i = 0; i < PLUGIN_COUNT; i++) {
        path_of(modules, i, path);
        unlink(path);
    }
    snprintf(path, sizeof(path), "%s/plugin.c", modules->folder);
    unlink(path);
    rmdir(modules->folder);
}

struct plugin plugin_load(const struct plugin_modules *modules, unsigned which)
{
    struct plugin plugin;
    char path[128];
    Dl_info info;

    path_of(modules, which, path);
    plugin.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin.handle == NULL)
        fail(dlerror());
    *(void **)&plugin.call = dlsym(plugin.handle, "plugin_call");
    if (plugin.call == NULL || dladdr((void *)plugin.call, &info) == 0)
        fail("has no function");
    plugin.base = (uintptr_t)info.dli_fbase;
    return plugin;
}

void plugin_unload(struct plugin *plugin)
{
    if (dlclose(plugin->handle) != 0)
        fail(dlerror());
    plugin->handle = NULL;
}

void plugin_order(unsigned number, unsigned order_out[PLUGIN_COUNT])
{
    unsigned left[PLUGIN_COUNT] = {0, 1, 2, 3};

    for (unsigned i = 0; i < PLUGIN_COUNT; i++) {
        unsigned choices = PLUGIN_COUNT - i, chosen = number % choices;

        number /= choices;
        order_out[i] = left[chosen];
        left[chosen] = left[choices - 1];
    }
}
