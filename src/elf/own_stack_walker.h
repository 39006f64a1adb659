/* SPDX-License-Identifier: MIT */
/*
 * Programs whose run-time system knows its own stacks: it walks them by return addresses that it looks up in tables, or
 * keeps other things there. Return addresses of functions in such a file must stay what they are. Nothing in the bytes
 * is trusted. No system calls, no locks, no libc; usable anywhere.
 */
#ifndef GAIT_ELF_OWN_STACK_WALKER_H
#define GAIT_ELF_OWN_STACK_WALKER_H

#include "elf/symbols.h"

#include <stdbool.h>

/* Whether a whole file is one: of Go, OCaml or Haskell, or with V8 in it. */
bool elf_has_own_stack_walker(const struct elf_symbols *symbols);

#endif
