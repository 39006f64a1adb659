/* SPDX-License-Identifier: MIT */
/*
 * Unwinders: functions of the program's that look at return addresses, which hooks have replaced. Whoever hooks
 * functions whose returns are seen also hooks these, where a module has one by that name, with a stub of
 * HOOK_STUB_LISTEN alone and the listener that is given here: then each sees what would be there without hooks. No
 * libc; any thread.
 */
#ifndef GAIT_HOOK_HOOK_UNWINDERS_H
#define GAIT_HOOK_HOOK_UNWINDERS_H

#include "hook/hook_stub.h"

#include <stdbool.h>
#include <stddef.h>

struct hook_unwinder {
    const char *name;
    const struct hook_listener *listener; /* its `place` is 0, its `serial` 1 */
};

/* From 0 on. False: there are no more. */
bool hook_unwinder_at(size_t index, struct hook_unwinder *unwinder_out);

/* NULL: a function of that name is none. */
const struct hook_listener *hook_unwinder_find(const char *name);

#endif
