/* SPDX-License-Identifier: MIT */
/*
 * What people type to say which function they mean: "NAME" as a glob, by the linker's name or as its source has it,
 * with or without parameters; "0x1230" or "*0x1230", an address as the file has it; "FILE:LINE". In front of it may
 * stand "MODULE!" or "MODULE:", and "MODULE+0x1230" is what functions without a name are shown as. Stateless; nothing
 * is owned: parts point into the text.
 */
#ifndef GAIT_SYMBOLIZE_FUNCTION_SPELLING_H
#define GAIT_SYMBOLIZE_FUNCTION_SPELLING_H

#include "base/glob.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum spelling_kind {
    SPELLING_NAME,
    SPELLING_ADDRESS,
    SPELLING_LINE,
};

struct function_spelling {
    enum spelling_kind kind;
    bool has_module;
    bool is_offset;          /* "WORD+0x1230", whose word may also be a function */
    struct glob_text module; /* a glob: the last part of a path, or all of it if there is a slash; may be empty */
    struct glob_text name;   /* of a function; else what stands there instead */
    struct glob_text source; /* the end of its path, or all of it */
    uint64_t address;
    uint32_t line;
};

struct function_spelling function_spelling_of(const char *text);

/* Whether it is a name that is meant, and not a pattern for several. */
bool function_spelling_is_single(const struct function_spelling *spelling);

/* Whether it is about that module. Without a module: no. */
bool function_spelling_has_module(const struct function_spelling *spelling, const char *path);

/* Whether it is that source, by the whole path or by the end of it. */
bool function_spelling_has_source(const struct function_spelling *spelling, const char *path);

/* Whether a name that debug information or a demangler has is meant: with or without parameters and other trimmings. */
bool function_spelling_has_plain(const struct function_spelling *spelling, const char *plain);

/*
 * Whether the function is meant that a linker knows by that name, which need not be ended by a NUL. is_linkers_out:
 * whether that name says so itself.
 */
bool function_spelling_has_function(const struct function_spelling *spelling, const char *name, size_t length,
                                    bool *is_linkers_out);

/*
 * What linkers call functions of C++ and Rust that are meant, as a glob, for who knows linkers' names only. It may mean
 * some more. False: that cannot be told.
 */
bool function_spelling_linkers_glob(const struct function_spelling *spelling, char *text_out, size_t text_bytes);

/* How long a name is without what stands behind it: parameters, or the @plt of a stub. */
size_t function_spelling_bare_length(const char *name);

#endif
