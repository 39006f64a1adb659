/* SPDX-License-Identifier: MIT */
/* Functions that are known by name to need their true return address. No libc, no state; usable anywhere. */
#ifndef GAIT_HOOK_ENTRY_ONLY_NAMES_H
#define GAIT_HOOK_ENTRY_ONLY_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* `name` need not be ended by a NUL; NULL: it has none. */
bool hook_is_entry_only_name(const char *name, size_t length);

/* What signal handlers return to: others look at its bytes to see that a signal came, so they must stay. */
bool hook_is_signal_return_name(const char *name, size_t length);

/* What others return to behind its first instruction, without having been called from there: Go's last function. */
bool hook_is_returned_into_name(const char *name, size_t length);

#endif
