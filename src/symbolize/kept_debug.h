/* SPDX-License-Identifier: MIT */
/*
 * Taking debug information along with a trace: what says which line of which file an address belongs to, and what was
 * inlined there, of one program or library, without its code and data. It is found again by its build ID, as debuggers
 * do. Callable from any thread.
 */
#ifndef GAIT_SYMBOLIZE_KEPT_DEBUG_H
#define GAIT_SYMBOLIZE_KEPT_DEBUG_H

#include "base/attributes.h"

struct recorded_module;

/* Long enough for where debug information is in a trace. */
#define KEPT_DEBUG_PATH_BYTES 128

/* debug/.build-id/12/3456.debug; empty: the module has no build ID. */
void kept_debug_path(const struct recorded_module *module, char path_out[KEPT_DEBUG_PATH_BYTES]);

/*
 * Writes it into the open folder of a trace, an ELF file with the debug information of the module's file or of the
 * separate one that belongs to it; also what these share with others, if there is such a file. -ENOENT: there is
 * nothing, the file is not as it was mapped, or has no build ID; -EEXIST: it is there; -ENOSPC and others: it cannot be
 * written, and is not there.
 */
MUST_USE int kept_debug_write(const struct recorded_module *module, int folder);

#endif
