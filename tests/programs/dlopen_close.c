/* SPDX-License-Identifier: MIT */
/* Libraries that are loaded, called and unloaded by turns, so that one takes the other's addresses. */
#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <unistd.h>

static char folder[4096];

static int use(const char *name, unsigned rounds)
{
    char path[4200];
    unsigned (*next)(unsigned), value = 0;
    void *library;

    snprintf(path, sizeof(path), "%s/loaded/%s.so", folder, name);
    library = dlopen(path, RTLD_NOW);
    if (library == NULL) {
        printf("cannot load %s\n", name);
        return 1;
    }
    next = (unsigned (*)(unsigned))dlsym(library, "counter_next");
    for (unsigned i = 0; i < rounds; i++)
        value = next(i);
    printf("%s: %u\n", name, value);
    return dlclose(library);
}

int main(void)
{
    char self[4096] = {0};
    int failures = 0;

    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
        return 1;
    snprintf(folder, sizeof(folder), "%s", dirname(self));
    for (unsigned i = 0; i < 10; i++) {
        failures += use("counter", i + 5);
        failures += use("multiplier", i + 3);
    }
    printf("%d failures; %s\n", failures, dlopen("/nonexistent.so", RTLD_NOW) == NULL ? dlerror() : "loaded");
    return failures;
}
