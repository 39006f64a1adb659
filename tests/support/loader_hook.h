/* SPDX-License-Identifier: MIT */
/*
 * The empty function that a loader calls for debuggers, made to call another one instead, by changing its code. For
 * tests, with one thread: nobody may be in there meanwhile.
 */
#ifndef GAIT_TESTS_LOADER_HOOK_H
#define GAIT_TESTS_LOADER_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loader_hook {
    uint64_t function;
    uint8_t before[16];
};

/* False: the function does not look like one that does nothing, or this is another CPU. */
bool loader_hook_attach(struct loader_hook *hook, uint64_t function, void (*call)(void));
void loader_hook_detach(struct loader_hook *hook);

#endif
