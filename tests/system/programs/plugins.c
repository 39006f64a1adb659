/* SPDX-License-Identifier: MIT */
/*
 * Loads libraries one after the other at the same place, in all orders, has each call s_leaf, and says from which one
 * it was called: "stack TAB plugin_X TAB main". Meanwhile other threads call s_other, so that somebody always looks at
 * libraries that are not complete yet. The argument is the folder of plugin_a.so to plugin_d.so.
 */
/*
 * Loads libraries one after the other at the same place, in all orders, has each call s_leaf, and says from which one
 * it was called: "stack TAB plugin_X TAB main". The argument is the folder of plugin_a.so to plugin_d.so.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define PLUGINS 4
#define THREADS 3

typedef void plugin(void (*leaf)(int), int number);

static volatile int sink;
static const char *folder;
static void *last_place;
static int moves;

__attribute__((noinline, noclone, noipa)) void s_leaf(int number)
{
    sink += number;
}

__attribute__((noinline, noclone, noipa)) void s_other(int number)
{
    sink += number;
}

static void *call_other(void *unused)
{
    while (sink >= 0) {
        s_other(0);
        usleep(100);
    }
    return unused;
}

static void run(int which)
{
    char path[4096], name[] = "plugin_a";
    void *library;
    plugin *function;

    name[7] = (char)('a' + which);
    snprintf(path, sizeof(path), "%s/%s.so", folder, name);
    library = dlopen(path, RTLD_NOW);
    function = library == NULL ? NULL : (plugin *)dlsym(library, name);
    if (function == NULL)
        return;
    moves += last_place != NULL && last_place != (void *)function;
    last_place = (void *)function;
    printf("stack\t%s\tmain\n", name);
    function(s_leaf, 1);
    dlclose(library);
}

int main(int count, char **arguments)
{
    pthread_t thread;

    if (count != 2)
        return 2;
    folder = arguments[1];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread, NULL, call_other, NULL);
    for (int order = 0; order < PLUGINS * PLUGINS * PLUGINS * PLUGINS; order++) {
        int digits[PLUGINS] = {order % 4, order / 4 % 4, order / 16 % 4, order / 64}, seen = 0;

        for (int i = 0; i < PLUGINS; i++)
            seen |= 1 << digits[i];
        for (int i = 0; seen == 15 && i < PLUGINS; i++)
            run(digits[i]);
    }
    /* Somebody else may take the place at times; if they were elsewhere each time, nothing would be proved. */
    return moves <= 48 ? 0 : 3;
}
