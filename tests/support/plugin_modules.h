/* SPDX-License-Identifier: MIT */
/*
 * Four shared libraries that are made for a test and can be loaded and unloaded. They are alike, to the address of each
 * instruction, but for the size of their function's frame: who takes one for another goes wrong.
 */
#ifndef GAIT_TESTS_PLUGIN_MODULES_H
#define GAIT_TESTS_PLUGIN_MODULES_H

#include <stdint.h>

#define PLUGIN_COUNT 4u

struct plugin_modules {
    char folder[64];
};

struct plugin {
    void *handle;
    uint64_t base;
    /* Calls the function. */
    int (*call)(int (*function)(void *context), void *context);
};

/* Compiles them into a temporary folder; ends the program as skipped if there is no compiler. */
void plugin_modules_init(struct plugin_modules *modules);
void plugin_modules_deinit(struct plugin_modules *modules);

/* Ends the program if it cannot be loaded. */
struct plugin plugin_load(const struct plugin_modules *modules, unsigned which);
void plugin_unload(struct plugin *plugin);

/* Makes each order of the four come up once: number is below 24. */
#define PLUGIN_ORDERS 24u
void plugin_order(unsigned number, unsigned order_out[PLUGIN_COUNT]);

#endif
