/* SPDX-License-Identifier: MIT */
/*
 * The names of code addresses of a trace, from the symbol tables of the files that were mapped. Those may be gone by
 * now, or be other ones: then from the names that were kept in the trace. Where there are none either, an address is
 * named by the file and the place in it. One thread at a time.
 */
#ifndef GAIT_SYMBOLIZE_FUNCTION_NAMES_H
#define GAIT_SYMBOLIZE_FUNCTION_NAMES_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

struct module;
struct function_file;

struct function_names {
    struct function_file *files;
    int folder; /* of the trace, in which names are kept; -1: none are */
};

/* A set without files; function_names_deinit forgets all that were read. */
void function_names_init(struct function_names *names);
void function_names_deinit(struct function_names *names);

/* From now on, names that are kept in this trace are used; its folder, which is open, has to stay so. */
void function_names_use_trace(struct function_names *names, int folder);

/*
 * Writes "function", "function+0x12", "function@plt" for a stub through which it is called in another library, or
 * "file+0x1234" (the place in the file) if there is no name. Returns NULL, or what is to be said of that: a static text
 * that follows "its file", as "is gone". A file that is not what was mapped is never used, but said to have changed; if
 * its names were kept, nothing is said of one that is gone.
 */
const char *function_names_find(struct function_names *names, const struct module *module, uint64_t address, char *text,
                                size_t text_bytes);

/* What the file itself calls an address. -ENOENT: it cannot be used, or has no code there. */
MUST_USE int function_names_place(struct function_names *names, const struct module *module, uint64_t address,
                                  uint64_t *place_out);

#endif
