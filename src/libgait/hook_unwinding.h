/* SPDX-License-Identifier: MIT */
/* Unwinders of this process, which must not see what hooks have made of return addresses. */
#ifndef GAIT_LIBGAIT_HOOK_UNWINDING_H
#define GAIT_LIBGAIT_HOOK_UNWINDING_H

#include "base/attributes.h"

struct hook_table;

/*
 * Hooks the unwinders of hook/hook_unwinders.h that are in any module, in one transaction. What cannot be hooked is
 * left as it is. Errors as hook_table_commit.
 */
MUST_USE int hook_unwinding_begin(struct hook_table *table);

#endif
