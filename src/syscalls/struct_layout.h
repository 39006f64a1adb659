/* SPDX-License-Identifier: MIT */
/*
 * Structs as struct_layouts.def describes them: {field=value, field=value}. Stateless; callable from any thread.
 */
#ifndef GAIT_SYSCALLS_STRUCT_LAYOUT_H
#define GAIT_SYSCALLS_STRUCT_LAYOUT_H

#include "syscalls/call_text.h"

enum struct_layout {
    STRUCT_LAYOUT_none,
#define LAYOUT(name, size_bytes) STRUCT_LAYOUT_##name,
#define FIELD(name, at, size_bytes, ...)
#define OPTIONAL(name, at, size_bytes, ...)
#define ANSWER(name, at, size_bytes, ...)
#define LATER(name, at, size_bytes, ...)
#define VERBOSE(name, at, size_bytes, ...)
#define REST
#define END
#include "syscalls/struct_layouts.def"
#undef LAYOUT
#undef FIELD
#undef OPTIONAL
#undef ANSWER
#undef LATER
#undef VERBOSE
#undef REST
#undef END
    STRUCT_LAYOUTS
};

/* Bytes of the whole struct, and of its shortest form: without fields that were added later, and without padding. */
size_t struct_layout_bytes(enum struct_layout which);
size_t struct_layout_fewest_bytes(enum struct_layout which);

/* The fields that are within size_bytes bytes. */
void struct_layout_put(const struct call_text *text, enum struct_layout which, const void *bytes, size_t size_bytes);

/* The same without braces. False: there was none. */
bool struct_layout_put_fields(const struct call_text *text, enum struct_layout which, const void *bytes,
                              size_t size_bytes);

/* The same of a struct that was cut: of the field that is cut, the bytes that are there. */
void struct_layout_put_beginning(const struct call_text *text, enum struct_layout which, const void *bytes,
                                 size_t size_bytes);

/* The struct at an address of the program, or the address if it cannot be read. */
void struct_layout_put_at(const struct call_text *text, enum struct_layout which, uint64_t address);

/*
 * A struct of which the program says how many bytes it has: fields that begin behind them are not there, and what is
 * behind the last field is told if it is not 0. Returns false, and writes nothing, if it cannot be read.
 */
bool struct_layout_put_sized(const struct call_text *text, enum struct_layout which, uint64_t address,
                             uint64_t size_bytes);

/* An array of them. */
void struct_layout_put_array(const struct call_text *text, enum struct_layout which, uint64_t address, uint64_t count);

#endif
