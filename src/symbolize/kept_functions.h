/* SPDX-License-Identifier: MIT */
/*
 * All functions of a program or library that are known by name: from its own symbol tables, the separate file with
 * debug information, what is packed in .gnu_debugdata; and the stubs through which it calls others, "malloc@plt". Only
 * what is needed is read. Callable from any thread.
 */
#ifndef GAIT_SYMBOLIZE_KEPT_FUNCTIONS_H
#define GAIT_SYMBOLIZE_KEPT_FUNCTIONS_H

struct kept_names;
struct recorded_module;

/*
 * Reads the file of a module as it is now. Returns NULL, and the names are the caller's; or why they cannot be had: a
 * static text that follows "its file". A file with another build ID "has changed since"; without one, the sum of the
 * file goes with the names, so that it can be told later.
 */
const char *kept_functions_gather(const struct recorded_module *module, struct kept_names *names_out);

#endif
