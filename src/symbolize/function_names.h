/* SPDX-License-Identifier: MIT */
/*
 * The names of code addresses of a trace as a line of text, from symbol tables, and with the line of the source where
 * it is asked for. Files may be gone by now, or be other ones: then what is kept in the trace is used, and without
 * that an address is named by the file and the place in it. One thread at a time.
 */
#ifndef GAIT_SYMBOLIZE_FUNCTION_NAMES_H
#define GAIT_SYMBOLIZE_FUNCTION_NAMES_H

#include "base/attributes.h"
#include "symbolize/symbolizer.h"

#include <stddef.h>
#include <stdint.h>

struct recorded_module;

struct function_names {
    struct symbolizer symbolizer;
};

/* A set without files; function_names_deinit forgets all that were read. */
void function_names_init(struct function_names *names);
void function_names_deinit(struct function_names *names);

/* Before anything is asked: names that are kept in this trace are used. Its folder, which is open, has to stay so. */
void function_names_use_trace(struct function_names *names, int folder);

/*
 * Writes "function", "function+0x12", "function@plt" for a stub through which it is called in another library, or
 * "file+0x1234" (the address there) if there is no name. Returns NULL, or what is to be said of the file: a
 * static text that follows "its file", as "is gone". Nothing is said of one that is gone if its names were kept.
 */
const char *function_names_find(struct function_names *names, const struct recorded_module *module, uint64_t address,
                                char *text, size_t text_bytes);

/* The same, and " (file:line)" behind it where debug information tells the line. */
const char *function_names_find_line(struct function_names *names, const struct recorded_module *module,
                                     uint64_t address, char *text, size_t text_bytes);

/* Only the " (file:line)"; nothing where it is not known. */
void function_names_line(struct function_names *names, const struct recorded_module *module, uint64_t address,
                         char *text, size_t text_bytes);

/* The name that the symbol table has for it, as it is there; NULL: none. Stays, and is not ended by a NUL. */
const char *function_names_symbol(struct function_names *names, const struct recorded_module *module, uint64_t address,
                                  size_t *length_out);

/* The file that debug information of the module is in, as far as it is known; "": there is none that can be used. */
const char *function_names_path(struct function_names *names, const struct recorded_module *module);

/* What the file itself calls an address. -ENOENT: it cannot be used, or has no code there. */
MUST_USE int function_names_place(struct function_names *names, const struct recorded_module *module, uint64_t address,
                                  uint64_t *place_out);

#endif
