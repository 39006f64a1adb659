/* SPDX-License-Identifier: MIT */
/*
 * Hooked functions without patches: a stub is made whose target is the function itself, and called instead of it. What
 * happens is kept as a text of the names that functions were given: "+f" it was entered, "-f" it returned, "!f" it was
 * unwound, "?f" it was probed or entered where no return is seen.
 */
#ifndef GAIT_TESTS_SUPPORT_HOOK_LAB_H
#define GAIT_TESTS_SUPPORT_HOOK_LAB_H

#include "hook/hook_stub.h"
#include "ring/ring_region.h"

#include <stdbool.h>
#include <stddef.h>

struct hook_lab_function {
    struct hook_function function;
    struct hook_stub stub;
    char name;
};

/* Once for a program. Also makes a ring, to which records go if asked for. */
void hook_lab_begin(void);

/* A hook on `target` that tells `name`. The result is to be called instead of target; it lasts as long as the program.
 */
void *hook_lab_hook(void *target, char name, unsigned parts);

/* The same with listeners of the caller's. */
void *hook_lab_hook_with(void *target, unsigned parts, const struct hook_listener *listeners, uint32_t count);

/* What was made last. */
struct hook_lab_function *hook_lab_last(void);

/* What was told by listeners since the last time, and the same of records that are in the ring. All threads together.
 */
const char *hook_lab_told(void);
const char *hook_lab_recorded(void);

/* And with changes of stacks: "<f" it was suspended, ">f" it was resumed. */
const char *hook_lab_recorded_with_stacks(void);

#endif
