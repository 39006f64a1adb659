/* SPDX-License-Identifier: MIT */
/*
 * What a trace, whose folder is open, has kept of the file of one of its modules. Nothing in it is trusted. Callable
 * from any thread.
 */
#ifndef GAIT_SYMBOLIZE_KEPT_MODULE_H
#define GAIT_SYMBOLIZE_KEPT_MODULE_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

struct kept_names;
struct recorded_module;
struct symbol_index;

/*
 * The names. -ENOENT: there are none; -EPROTO: there are, but they are damaged; -ESTALE: the file has no build ID, and
 * was another one when the module was mapped.
 */
MUST_USE int kept_module_read(int trace, const struct recorded_module *module, struct kept_names *names_out);

/* The same as an index; they have to stay, since the index points to their text. -ENOMEM. */
MUST_USE int kept_module_index(const struct kept_names *names, struct symbol_index *index_out);

/* Whether the file at that path is what the names were taken of; for modules without a build ID. */
bool kept_module_is_file(const struct kept_names *names, const char *path);

/* Where its debug information is; it is "" if there is none. Good while the folder of the trace is open. */
void kept_module_debug_path(int trace, const struct recorded_module *module, char *path_out, size_t path_bytes);

#endif
