/* SPDX-License-Identifier: MIT */
/*
 * Modules whose functions must keep their true return addresses, because a run-time system looks at them by means that
 * nobody else knows. No libc, no state; usable anywhere.
 */
#ifndef GAIT_HOOK_STACK_WALKERS_H
#define GAIT_HOOK_STACK_WALKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_function_list;

/* Which of them a module has, a bit for each line of stack_walkers.def. */
uint32_t hook_stack_walkers_find(const struct elf_function_list *functions);

/* Whether one of these looks at such a function's return address. `name` need not be ended by a NUL; NULL: it has none.
 */
bool hook_stack_walkers_look_at(uint32_t walkers, const char *name, size_t length);

#endif
